import { CHANGES } from './inventory-lists.ts'
import { CALL_CELLS, callsSql, importsSql } from './ledger-lists.ts'
import {
  type Cells,
  callsOf,
  differences,
  type Listed,
  link,
  or,
  plain,
  runLink,
  state,
  took,
} from './listed.ts'

/* The pages about one thing: a run, a hold, an import, a server, a rule. */

const OF_RUN: readonly Listed[] = [
  {
    at: '/ledger/runs/{failed} | Last calls of this run, newest first',
    sql: callsSql('c.run_id = {failed}'),
    shows: 'Started, Operation, Took, HTTP, Error, Request id:calls',
    cells: CALL_CELLS,
  },
  {
    at: '/ledger/runs/{run} | The first quarantined rows, by position in the listing',
    sql: 'select * from ferry.quarantined_rows where run_id = {run} order by position',
    shows: 'Position, Id, Reason',
    cells: { Id: or('id', 'unreadable') },
  },
  {
    at: '/ledger/runs/{run} | Fields outside the contract, first seen in this run',
    sql: 'select * from ferry.contract_drift where first_run = {run} order by field',
    shows: 'Field, Type',
  },
  {
    at: '/ledger/runs/{run} | Values that a field never had before this run',
    sql: 'select * from ferry.seen_values where is_news and first_run = {run} order by field, value',
    shows: 'Field, Value',
  },
]

const HELD = `(select unnest(ids)::numeric as id from ferry.removal_holds where last_run = {open}) h`
const RULES = `(select * from ferry.alert_rules where account = 'default') r`

const OF_HOLD: readonly Listed[] = [
  {
    at: '/ledger/holds/{open} | Folders that would lose the most',
    sql: `select folder_id as folder, count(h.id)::int as "would be removed", count(*)::int as current
      from ${RULES} left join ${HELD} using (id) group by folder_id having count(h.id) > 0 order by 2 desc, folder_id`,
    shows: 'Folder, Would be removed, Current',
  },
  {
    at: '/ledger/holds/{open} | Rows that would be removed',
    sql: `select r.*, h.id, r.folder_id as folder, v.team, r.updater_name as by from ${HELD} left join ${RULES} using (id)
      left join ferry.alert_rule_versions v using (account, id, valid_from) order by h.id`,
    shows: 'Name, Id, State, Folder, Team, Last edited by=by',
    cells: {
      Name: ({ id, name }) => link(plain(name, 'no longer stored'), `/rules/default/${id}`),
      State: ({ account, enabled, triggered }) =>
        account ? state(enabled ? 'enabled' : 'disabled') + (triggered ? ' bad:firing' : '') : '',
      Folder: or('folder'),
    },
  },
  {
    at: '/ledger/holds/{approved} | Approvals',
    sql: `select r.*, a.actor, a.because from ferry.sync_runs r join ferry.audit a on a.action = 'sync' and a.subject_id = r.id::text
      where r.guard = 'approved' order by r.id desc`,
    shows:
      'Run=id:run, By=actor, Why=because, Began=started_at, Status:state, Removed, Error=error_code:none',
    cells: {
      Run: ({ id }) => runLink(id, id),
      Status: ({ status }) => state(status),
      Error: or('error_code'),
    },
  },
]

const batchesSql = (id: number) => `
  select b.id as batch, b.import_id, b.from_line, b.to_line, b.rows, b.resends, b.sent_at, b.http_status, b.error_code, a.*,
    case when b.state = 'in flight' and b.claim_ends_at < now() then 'uncertain' else b.state end as state
  from ferry.import_batches b cross join lateral (
    select count(*)::int as calls, array_agg(request_id order by id) filter (where request_id is not null) as request_ids,
      max(started) as called_at
    from ferry.platform_calls c where c.batch_id = b.id) a
  where b.import_id = ${id} and b.state <> 'split' order by from_line desc`

const BATCH = 'Batch id=batch, Lines, Rows, State:state, Calls, Sent at, Answer, Request ids'

const BATCH_CELLS: Cells = {
  Lines: ({ from_line, to_line }) => `${from_line}–${to_line}`,
  Calls: ({ calls, resends }) => `${calls}${resends > 0 ? `, resent ${resends}` : ''}`,
  'Sent at': ({ sent_at, called_at, calls }) =>
    sent_at || !called_at
      ? plain(sent_at)
      : `${calls > 1 ? 'last call' : 'call'} began at ${plain(called_at)}`,
  Answer: ({ http_status, error_code }) =>
    [http_status && `HTTP ${http_status}`, error_code].filter(Boolean).join(', ') || '–',
  'Request ids': ({ request_ids }) => (request_ids ?? []).slice(-5).map(callsOf).join(' ') || '–',
}

/** Those of the working days: one that is complete, one that the platform refuses, one with an unknown outcome, one that is sent. */
export const [DONE, REFUSED, UNDECIDED, RUNNING] = [1, 2, 3, 7]

const batchesOf = (id: number): Listed => ({
  at: `/imports/${id} | Batches, last lines first`,
  sql: batchesSql(id),
  rows: 20,
  shows: BATCH,
  cells: BATCH_CELLS,
  ...(id === REFUSED && { filters: { batches: [`'unsent'`, `state <> 'sent' and $1 = 'unsent'`] } }),
})

const MEANINGS: Readonly<Record<string, RegExp>> = {
  ...{
    Sent: /has them/,
    Pending: /Still to be sent/,
    Uncertain: /no definite answer/,
    Rejected: /checked, or by the platform/,
  },
  ...{ Duplicate: /earlier in the file/, Suppressed: /--suppress/, 'Already imported': /Another import/ },
  Sum: /^[\d,]+ were read: every row is accounted for.$/,
}

const OF_IMPORT: readonly Listed[] = [
  {
    at: `/imports/${DONE} | Rows by outcome`,
    sql: `
      select p.*, case when p.rows = 0 then '0 %' when p.rows * 100 < i.read then '< 1 %' else round(p.rows * 100.0 / i.read) || ' %' end as share
      from (${importsSql(`f.import = ${DONE}`)}) i cross join lateral (values ('Sent', i.sent), ('Pending', i.pending), ('Uncertain', i.uncertain),
        ('Rejected', i.rejected), ('Duplicate', i.duplicate), ('Suppressed', i.suppressed), ('Already imported', i."already imported"),
        ('Sum', i.read)) p (what, rows)`,
    shows: 'What, Rows, Share, Meaning',
    cells: { Meaning: ({ what }) => MEANINGS[what] ?? 'a meaning' },
  },
  ...[DONE, REFUSED, UNDECIDED, RUNNING].map(batchesOf),
  {
    at: `/imports/${UNDECIDED} | Uncertain: 900 rows`,
    sql: batchesSql(UNDECIDED),
    shows: `${BATCH}, Decide`,
    cells: {
      ...BATCH_CELLS,
      Decide: ({ batch }) => {
        const to = (verb: string) => `/imports/${UNDECIDED}/batches/${batch}/${verb}`
        return `${link('mark as sent', to('sent'))} or ${link('send again', to('resend'))}`
      },
    },
  },
  {
    at: `/imports/${DONE} | Reasons`,
    sql: `
      select count(*)::int as rows, 'rejected' as what, origin as by, reason from ferry.import_rejects where import_id = ${DONE} group by origin, reason
      union all
      select count(*)::int, kind, null, reason from ferry.import_left_out where import_id = ${DONE} group by kind, reason
      order by rows desc, what, reason`,
    shows: 'Rows, What, By, Reason',
  },
  {
    at: `/imports/${REFUSED} | The most frequent first`,
    sql: `
      select c.error_code as cause, c.http_status as http, count(*)::int as calls, count(distinct c.batch_id)::int as batches, min(c.started) as first,
        max(c.started) as last, max(c.request_id) as request_id
      from ferry.platform_calls c join ferry.import_batches b on b.id = c.batch_id
      where b.import_id = ${REFUSED} and c.error_code is not null group by c.error_code, c.http_status order by calls desc, last desc`,
    shows: 'Cause, HTTP, Calls, Batches, First, Last, Last request id=request_id:calls',
    cells: { HTTP: or('http', 'no answer') },
  },
]

/** What happened to one rule or server: changes, with a first reading of its own, and firings. */
const timelineOf = (inventory: string, thing: string, [table, key]: readonly [string, string]): Listed => ({
  at: `/${thing}s/{${thing}_account}/{${thing}} | Newest first`,
  sql: `
    select change, "when", run, by, before, after, null::timestamptz as ended from (${CHANGES.sql}) c
    where inventory = '${inventory}' and id = '{${thing}}' and account = '{${thing}_account}'
    union all
    select 'first reading', valid_from, opened_by_run, null, null, null, null from ferry.${table}
    where appeared = 'first reading' and ${key}::text = '{${thing}}'
    union all
    select 'firing', began, null, null, null, null, ended from ferry.alert_rule_firings where '${thing}' = 'rule' and id::text = '{${thing}}'
    order by "when" desc, run nulls last`,
  shows: 'When, What, Old to new, By',
  cells: {
    What: ({ change, ended }) => (change === 'firing' && ended ? 'quiet:fired' : state(change)),
    'Old to new': ({ change, when, ended, before, after }) => {
      if (change !== 'firing') return differences(before, after)
      return ended ? `for ${plain({ ms: ended - when })}, until ${plain(ended)}` : 'since then'
    },
    By: ({ run, by }) => (run ? `${by ? `${by} ` : ''}${runLink(run)}` : ''),
  },
})

const OF_ONE: readonly Listed[] = [
  timelineOf('alert-rules', 'rule', ['alert_rule_versions', 'id']),
  timelineOf('mcp-servers', 'server', ['mcp_server_versions', 'server_id']),
  {
    at: '/rules/{rule_account}/{rule} | Firings',
    sql: `select began, ended, ${took('began', 'ended')} as lasted from ferry.alert_rule_firings where id = {rule} order by began desc`,
    shows: 'Began, Ended, Lasted',
    cells: { Ended: or('ended', 'still firing') },
  },
  {
    at: '/servers/{server_account}/{server} | Recorded tools: 1',
    sql: `select name as tool, description from ferry.mcp_server_tools where server_id = '{server}' order by position`,
    shows: 'Tool, What it does=description:marked',
  },
]

export const THING_TABLES: readonly Listed[] = [...OF_RUN, ...OF_HOLD, ...OF_IMPORT, ...OF_ONE]
