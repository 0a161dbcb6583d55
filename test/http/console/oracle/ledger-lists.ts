import { MOMENTARY } from '#src/model/event.ts'
import { sentenceOf } from '#src/notify/sentences.ts'
import { OF_ACCOUNT, SINCE_AND_UNTIL } from './inventory-lists.ts'
import {
  callsOf,
  growing,
  importLink,
  type Listed,
  link,
  or,
  plain,
  type Row,
  runLink,
  state,
  took,
  type Wanted,
} from './listed.ts'

/* The lists of what Ferry and people did: runs, calls, schedules, snapshots, holds, events, acts, imports. */

export const RUNS: Listed = {
  at: '/ledger | Runs, the newest first',
  sql: `
    select id as run, account, resource as inventory, trigger, status, started_at as started, ${took('started_at', 'finished_at')} as took,
      seen, added, changed, removed, quarantined, requests as calls, error_code as error, request_id
    from ferry.sync_runs order by run desc`,
  shows: 'Run:run, Inventory, Status:state, Started, Took, Seen, Added, Changed, Removed, Notes',
  cells: {
    Inventory: ({ inventory, account }) => `${inventory} in ${account}`,
    Started: ({ started, trigger }) => `${plain(started)} ${trigger}`,
    Notes: ({ quarantined, error, request_id }) => {
      const notes = [
        quarantined > 0 && `${plain(quarantined)} quarantined`,
        error,
        request_id && callsOf(request_id),
      ]
      return notes.filter(Boolean).join(' ') || '–'
    },
  },
  csv: 'run, account, inventory, trigger, status, started, took, seen, added, changed, removed, quarantined, calls, error',
  filters: {
    ...OF_ACCOUNT,
    ...SINCE_AND_UNTIL('started'),
    inventory: `'mcp-servers'`,
    status: `'held'`,
  },
}

export const callsSql = (where = 'true') => `
  select c.id as call, c.started, c.account, c.operation, ${took('c.started', 'c.finished')} as took, c.http_status as http,
    c.error_code as error, c.request_id as "request id", c.run_id as run, c.batch_id as batch, b.import_id
  from ferry.platform_calls c left join ferry.import_batches b on b.id = c.batch_id where ${where} order by call desc`

export const CALL_CELLS = { Took: or('took', 'no answer') }

const CALLS: Listed = {
  at: '/ledger/calls | Calls, newest first',
  sql: callsSql(),
  shows: 'Started, Account, Operation, Took, HTTP, Error, Request id:calls, For',
  cells: {
    ...CALL_CELLS,
    For: ({ run, batch, import_id: id }) =>
      run ? runLink(run) : batch ? `${importLink(id, `import ${id}`)}, batch ${batch}` : '–',
  },
  csv: 'started, account, operation, took, http, error, request id, run, batch',
  filters: {
    ...OF_ACCOUNT,
    ...SINCE_AND_UNTIL('started'),
    operation: `'import-subscribers'`,
    run: 'max(run)',
    request_id: ['max("request id")', '"request id" = $1'],
    refused: [`'yes'`, `error is not null and $1 = 'yes'`, 'started desc, call desc'],
  },
}

const MARKS: Readonly<Record<string, string>> = { failed: '×', partial: '!', held: '!', skipped: '–' }

export const SCHEDULES: Listed = {
  at: '/ledger/schedules | Schedules',
  // When they are due is set, not stored.
  sql: `
    select s.account, s.schedule, case when s.every_ms is not null then json_build_object('ms', s.every_ms) end as every, s.cron, l.slot as last,
      l.outcome, p.schedule is not null as paused, case when p.schedule is null then '{"any": true}'::json end as next, strip
    from (values ('*', 'prune', null, '15 4 * * *'), ('default', 'poll-alert-rules', 60000, null),
      ('default', 'poll-mcp-servers', 900000, null), ('default', 'snapshot-inventory', null, '30 3 * * *')) s (account, schedule, every_ms, cron)
    left join ferry.schedule_pauses p using (account, schedule)
    left join lateral (
      select slot, outcome from ferry.schedule_slots o where o.account = s.account and o.schedule = s.schedule order by slot desc limit 1) l on true
    cross join lateral (
      select coalesce(json_agg(json_build_object('slot', slot, 'outcome', outcome, 'run', (
          select min(r.id) from ferry.sync_runs r where r.account = o.account and r.slot = o.slot)) order by slot), '[]') as strip
      from ferry.schedule_slots o where o.account = s.account and o.schedule = s.schedule) slots
    order by account, schedule`,
  shows: 'Schedule, Account, When, Last, Outcome, Runs, Next, Decide',
  cells: {
    Account: ({ account }) => (account === '*' ? 'all' : account),
    When: ({ every, cron }) => (cron ? `${cron} UTC` : `every ${plain(every)}`),
    Last: or('last', 'never'),
    Outcome: ({ last, outcome }) => state(last ? outcome : 'never run'),
    Runs: ({ strip }) => strip.map(slotOf).join(''),
    Next: ({ paused }) => (paused ? 'warn:paused' : /^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    Decide: ({ schedule, account, paused }) => {
      const to = (verb: string) => `/ledger/schedules/${schedule}/${encodeURIComponent(account)}/${verb}`
      return `${paused ? link('Resume', to('resume')) : link('Pause', to('pause'))} ${link('Run now', to('run'))}`
    },
  },
  csv: 'schedule, account, every, cron, last, outcome, paused, next',
}

function slotOf({ slot, outcome, run }: Row): string {
  const instant = new Date(slot).toISOString()
  const words = `${MARKS[outcome] ?? '·'} "${outcome}, ${instant.slice(0, 19).replace('T', ' ')}"`
  return run ? runLink(run, words) : link(words, `/at/${instant}`)
}

export const SNAPSHOTS: Listed = {
  at: '/ledger/snapshots | Nights, and snapshots taken by hand',
  sql: `
    select id as snapshot, account, status, taken_at as taken, slot as "night of", alert_rules_run, mcp_servers_run,
      lag(id) over (partition by account order by taken_at) as previous
    from ferry.snapshots order by id desc`,
  shows: 'Snapshot, Night of, Account, Status:state, Taken, Runs, What changed',
  cells: {
    'Night of': row => row['night of']?.toISOString().slice(0, 10) ?? '',
    Runs: row =>
      `${runLink(row.alert_rules_run, 'alert rules')}, ${runLink(row.mcp_servers_run, 'MCP servers')}`,
    'What changed': ({ snapshot: to, previous: from }) =>
      from ? link(`since snapshot ${from}`, '/changes/compare', { from, to }) : 'no earlier snapshot',
  },
  csv: 'snapshot, account, status, taken, night of',
  filters: { ...OF_ACCOUNT, status: `'partial'` },
}

const holdsSql = (where: string) => `
  select account, resource as inventory, cardinality(ids) as rows, opened_at as since, ended_at as ended, outcome, last_run as run
  from ferry.removal_holds where ${where} order by id desc`

/** How a hold ended, and what became of its rows. */
export function outcomeOf(outcome: string): string {
  return { approved: 'bad:approved: removed', rejected: 'good:rejected: kept' }[outcome] ?? `quiet:${outcome}`
}

const HOLDS: readonly Listed[] = [
  {
    at: '/ledger/holds | Ended',
    sql: holdsSql('ended_at is not null'),
    shows: 'Account, Inventory, Rows, Ended, Outcome, Details',
    cells: {
      Outcome: ({ outcome }) => outcomeOf(outcome),
      Details: ({ run }) => link(`Run ${run}`, `/ledger/holds/${run}`),
    },
    csv: 'account, inventory, rows, ended, outcome, run',
  },
  {
    at: '/ledger/holds | Open holds',
    sql: holdsSql('ended_at is null'),
    shows: 'Account, Inventory, Rows, Since, Decide',
    cells: { Decide: ({ run }) => link('Review', `/ledger/holds/${run}`) },
  },
]

/** Of a message that is not delivered; it is given up after a day. */
const MESSAGE = `case when d.delivered_at is not null then 'delivered' when d.at > now() - interval '1 day' then 'waiting' else 'dead' end`

export const EVENTS: Listed = {
  at: '/ledger/events | Events, the newest first',
  sql: `
    select e.id as event, e.kind, e.state, e.account, e.subject as about, e.at, e.data, d.messages, coalesce(d.attempts, 0) as attempts, d.failure,
      coalesce(d.states, array[s.state]) as states, coalesce(d.words, s.state) as message
    from ferry.events e
    cross join lateral (select case when e.routed_at is null and e.at > now() - interval '1 day' then 'waiting' else 'not sent' end as state) s
    left join lateral (
      select json_agg(json_build_object('receiver', receiver, 'delivery', ${MESSAGE}, 'attempts', attempts, 'failure', failure,
          'retryAt', retry_at) order by receiver) as messages, max(attempts) as attempts,
        array_agg(${MESSAGE}) as states, string_agg(receiver || ': ' || ${MESSAGE}, ', ' order by receiver) as words,
        (array_agg(failure order by receiver) filter (where delivered_at is null and failure is not null))[1] as failure
      from ferry.deliveries d where d.event = e.id) d on true
    order by event desc`,
  shows: 'At, Event, What, Message',
  cells: {
    Event: ({ kind, state: of }) => (MOMENTARY.includes(kind) ? kind : `${kind} ${state(of)}`),
    What: row => `${sentenceOf(row as Parameters<typeof sentenceOf>[0]).replaceAll('`', '')} ${placeOf(row)}`,
    Message: ({ event, messages, message }) =>
      messages ? messages.map((one: Row) => messageOf(event, one)).join(' ') : state(message),
  },
  csv: 'event, kind, state, account, about, at, message, attempts, failure',
  filters: {
    ...OF_ACCOUNT,
    ...SINCE_AND_UNTIL('at'),
    kind: `'removals.held'`,
    delivery: [`'dead'`, '$1 = any (states)'],
  },
}

/** Whether it was delivered, what hinders it, and if the settings have its receiver, how to send it again. */
function messageOf(event: string, { receiver, delivery, attempts, failure, retryAt }: Row): string {
  const tries = attempts === 0 ? '' : ` ${attempts} attempt${attempts === 1 ? '' : 's'}`
  const again = delivery === 'waiting' && retryAt ? `, again at ${plain(new Date(retryAt))}` : ''
  const why = attempts > 0 && delivery !== 'delivered' ? `${again}: ${failure}` : ''
  const isEnded = delivery !== 'waiting' && receiver === 'webhook'
  return `${receiver} ${state(delivery)}${tries}${why}${isEnded ? ` ${link('Send again', `/ledger/events/${event}/${receiver}/send`)}` : ''}`
}

function placeOf({ kind, account, data: { run, import: id, rules, ruleIds } }: Row): string {
  if (rules === 1) return link('The rule', `/rules/${account}/${ruleIds[0]}`)
  if (id) return importLink(id, `Import ${id}`)
  if (kind === 'mcp.tools.changed') return link('Tools that changed', '/mcp/changes')
  return kind === 'removals.held' ? link('The hold', `/ledger/holds/${run}`) : runLink(run, `Run ${run}`)
}

export const ACTS: Listed = {
  at: '/ledger/audit | What people did by hand, the newest first',
  sql: `
    select id, at as when, actor as who, action as did, subject_kind || ' ' || subject_id as to, subject_kind, subject_id, account,
      case when rows is not null then rows || ' of ' || of_rows end as rows, because
    from ferry.audit order by id desc`,
  shows: 'When, Who, Did, Target, Rows, Account, Because',
  cells: {
    Who: ({ who: actor }, query) => link(actor, '/ledger/audit', { ...query, actor }),
    Target: ({ to, subject_kind: kind, subject_id: id }) =>
      kind === 'import' ? importLink(id, to) : kind === 'run' ? runLink(id) : link(to, '/ledger/schedules'),
    Because: or('because', 'no reason given'),
  },
  csv: 'when, who, did, to, rows, account, because',
  filters: {
    ...OF_ACCOUNT,
    ...SINCE_AND_UNTIL('"when"'),
    actor: [`upper(split_part(max(who), '@', 1))`, `strpos(lower(who), lower($1)) > 0`],
    action: [`'confirm'`, 'did = $1'],
  },
}

export const importsSql = (where = 'true', order = 'f.import desc') => `
  select f.import, f.account, f.page_id as page, f.status, f.read, f.sent, f.rejected_by_check + f.rejected_by_platform as rejected,
    f.duplicate, f.suppressed, f.already_imported as "already imported", f.uncertain, f.pending, i.file, i.created_at as created, i.requests as calls,
    f.sent + f.uncertain + f.pending as to_be_sent, i.method, i.finished_at, i.staged_at, i.pause_message, i.on_uncertain,
    (select count(*)::int from ferry.import_batches b where b.import_id = i.id and b.state <> 'split')
      + case when i.finished_at is null then ceil((i.recipients - i.batched)::numeric / i.batch_rows)::int else 0 end as batches,
    case when i.finished_at is null and i.rests_since is null and i.confirmed_at is not null
      then ${growing(`extract(epoch from now() - i.confirmed_at) * 1000 - i.rested_ms`)}
      else json_build_object('ms', round(extract(epoch from coalesce(i.finished_at, i.rests_since, i.staged_at)
        - coalesce(i.confirmed_at, i.created_at)) * 1000 - i.rested_ms)) end as took
  from ferry.import_funnel f join ferry.imports i on i.id = f.import where ${where} order by ${order}`

export const IMPORTS: Listed = {
  at: '/imports | All imports, the newest first',
  sql: importsSql(),
  shows: 'Import:import, File, Page, Account, Status, Sent, Other, Created',
  cells: {
    Status: statusOf,
    Sent: ({ sent, to_be_sent }) => `${plain(sent)} of ${plain(to_be_sent)}`,
    Other: ({ pending, uncertain, rejected, read, sent }) => {
      const left = { pending, uncertain, rejected, 'left out': read - sent - pending - uncertain - rejected }
      const words = Object.entries(left).filter(([, rows]) => rows > 0)
      return words.map(([word, rows]) => `${plain(rows)} ${word}`).join(', ') || '–'
    },
  },
  csv: 'import, account, page, status, read, sent, rejected, duplicate, suppressed, already imported, uncertain, pending, batches, calls, took, created, file',
  filters: { ...OF_ACCOUNT, since: SINCE_AND_UNTIL('created').since, status: `'paused'` },
}

export function statusOf({ status, staged_at }: Row): string {
  return status === 'staging' && staged_at ? 'warn:to confirm' : state(status)
}

export const WAITS = `f.status in ('staging', 'paused', 'undecided')`

/** Why an import waits for a person. One that nobody confirms is removed after a day. */
export function whyItWaits({ status, created, pause_message, uncertain }: Row): Wanted {
  if (status === 'paused')
    return new RegExp(`^${RegExp.escape((pause_message ?? 'It is paused.').replaceAll('`', ''))}`)
  if (status === 'undecided')
    return `No definite answer came for ${plain(uncertain)} rows: the platform may have them. Check the platform, then decide.`
  const removed = plain(new Date(created.getTime() + 86_400_000))
  return `Its file has been checked. Nothing is sent until you confirm it. The import is deleted at ${removed} unless it is confirmed.`
}

const DECISIONS: Readonly<Record<string, readonly [words: string, path: string]>> = {
  ...{ staging: ['Confirm', '/confirm'], paused: ['Resume', '/resume'], undecided: ['Decide', '#uncertain'] },
}

const WAITING: Listed = {
  at: '/imports | Waiting for a decision',
  sql: importsSql(WAITS, 'f.import'),
  shows: 'Import:import, File, Status, Why, Decide',
  cells: {
    Status: statusOf,
    Why: whyItWaits,
    Decide: ({ import: id, status }) =>
      link(DECISIONS[status]?.[0], `/imports/${id}${DECISIONS[status]?.[1]}`),
  },
}

export const LEDGER_LISTS: readonly Listed[] = [
  ...[RUNS, CALLS, SCHEDULES, SNAPSHOTS, ...HOLDS, EVENTS, ACTS, IMPORTS, WAITING],
]
