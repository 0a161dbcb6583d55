import { importsSql, statusOf, WAITS, whyItWaits } from './ledger-lists.ts'
import { differences, growing, importLink, type Listed, link, or, plain, runLink, thing } from './listed.ts'

/* The pages about two moments, one moment, and now; and what is found by its id or words. */

/** What differs between the snapshots {from} and {to} of an account. */
export const betweenSql = (resource: string) => `
  select c.*, coalesce(c.folder_id, s.team_id)::text as folder, r.updater_name as by
  from (select (select taken_at from ferry.snapshots where id = {from}) as from, (select taken_at from ferry.snapshots where id = {to}) as to) m
  cross join lateral ferry.changes_between(m.from, m.to) c
  left join ferry.alert_rule_versions r on c.inventory = 'alert-rules' and r.account = c.account and r.id::text = c.id and r.appeared is null
    and m.to >= r.valid_from and m.to < coalesce(r.valid_to, 'infinity')
  left join lateral (select team_id from ferry.mcp_server_versions s where s.server_id = c.id limit 1) s on c.inventory = 'mcp-servers'
  where c.inventory = '${resource}' and c.account = 'default'`

const comparedOf = (resource: string, folder: string): Listed => ({
  at: `/changes/compare?from={from}&to={to}&resource=${resource} | What differs, by id`,
  sql: `${betweenSql(resource)} order by case c.inventory when 'alert-rules' then c.id::numeric end, c.id collate "C"`,
  shows: `Change:state, About:thing, ${folder}=folder, Old to new:differences${folder === 'Folder' ? ', Last edited by=by:none' : ''}`,
  filters: { kind: [`'changed'`, 'change = $1'] },
})

/** What happened, as people say it, with its color. */
const KINDS: Readonly<Record<string, string>> = {
  ...{ 'rule.added': 'quiet:added', 'rule.changed': 'quiet:edited', 'rule.removed': 'warn:removed' },
  ...{ 'rule.fired': 'bad:began to fire', 'rule.cleared': 'good:stopped firing' },
  ...{
    'server.added': 'quiet:MCP server added',
    'server.changed': 'quiet:MCP server changed',
    'tool.added': 'quiet:MCP tool added',
  },
  ...{ 'tool.removed': 'warn:MCP tool removed', 'tool.changed': 'quiet:MCP tool described differently' },
  ...{
    decision: 'quiet:decision',
    'import.started': 'quiet:import started',
    'removals.held': 'warn:removals held',
    blind: 'bad:nothing was read',
  },
}

const AROUND: readonly Listed[] = [
  {
    at: '/at/{moment}?minutes=360 | What happened, in the order in which it was observed',
    sql: `select * from ferry.around('{moment}', '6 hours')`,
    rows: 100,
    shows: 'Not before, Observed, What, About, Details, By=who:none',
    cells: {
      'Not before': ({ kind, since }) => (/^(decision|import)/.test(kind) ? '' : plain(since, 'not known')),
      Observed: ({ observed_at, run_id }) =>
        `${plain(observed_at, 'now')}${run_id ? ` ${runLink(run_id)}` : ''}`,
      What: ({ kind, while_firing }) =>
        while_firing ? `${`${KINDS[kind]}`.replace('warn', 'bad')} while firing` : (KINDS[kind] ?? kind),
      About: ({ kind, inventory, account, id, name, before, after }) => {
        if (inventory === null)
          return `${kind === 'decision' ? name : importLink(id, name)} ${id} in ${account}`
        if (id === null) return `${inventory} of ${account}`
        return `${kind.startsWith('tool.') ? `${(after ?? before).tool} of ` : ''}${thing({ id, name, account, inventory })}`
      },
      Details: ({ inventory, before, after }) => {
        if (inventory !== null && before !== null) return differences(before, after ?? {})
        const known = Object.entries(after ?? {}).filter(([, value]) => value !== null)
        return known.map(([field, value]) => `${field}: ${value}`).join(', ')
      },
    },
    filters: {
      account: [`'branch'`, `account in ($1, '*')`],
      words: [
        `split_part(max(name) filter (where kind = 'rule.changed'), ':', 1)`,
        `kind in ('blind', 'removals.held') or strpos(concat_ws(' ', name, labels::text), $1) > 0`,
      ],
    },
  },
  {
    at: '/at/{moment} | Firing at that moment, the longest first',
    sql: `select *, case when fired_for is not null then json_build_object('ms', extract(epoch from fired_for) * 1000) end as for
      from ferry.firing_at('{moment}')`,
    rows: 100,
    shows: 'Rule:thing, For:none, Began, Ended, Team, State',
    cells: {
      Ended: or('ended', 'still firing'),
      State: ({ known, enabled, for: since }) =>
        `${known ? 'bad:firing' : `quiet:not known: ${since ? 'it fired before' : 'first seen firing later'}`}${enabled ? '' : ' warn:disabled'}`,
    },
    filters: {
      account: `'branch'`,
      team: 'max(team)',
      folder: ['max(folder_id)', 'folder_id = $1'],
    },
  },
]

const NOW: readonly Listed[] = [
  {
    at: '/ | Pending decisions',
    sql: `
      select resource, account, cardinality(ids) as rows, opened_at, last_run, null::bigint as import, null as status, null::timestamptz as created, null::timestamptz as staged_at,
        null as pause_message, null::int as uncertain from ferry.removal_holds where ended_at is null
      union all (
        select null, account, null, null, null, import, status, created, staged_at, pause_message, uncertain from (${importsSql(WAITS, 'f.import')}) i)`,
    shows: 'What, Account, Why',
    cells: {
      What: row =>
        row.resource
          ? link(`Removals of ${row.resource}`, `/ledger/holds/${row.last_run}`)
          : `${importLink(row.import, `Import ${row.import}`)} ${statusOf(row)}`,
      Why: row =>
        row.resource
          ? `${row.rows} alert rules missing from the listing since ${plain(row.opened_at)}. Remove or keep?`
          : whyItWaits(row),
    },
  },
  {
    at: '/ | Freshness',
    sql: `
      select account, inventory, state, last_complete_at, last_complete_run as run, last_failed_run as failed,
        case when age is not null then ${growing('extract(epoch from age) * 1000')} end as age,
        case when target is not null then json_build_object('ms', extract(epoch from target) * 1000) end as target
      from ferry.freshness order by state not in ('late', 'never'), account, inventory`,
    shows: 'Account, Inventory, State:state, Age, Target, Last read, Why it is late',
    cells: {
      'Last read': ({ last_complete_at, run }) =>
        run ? `${plain(last_complete_at)} ${runLink(run)}` : 'never',
      // Only the table of those that are late has it.
      'Why it is late': ({ failed }) =>
        failed
          ? new RegExp(`runs show ${failed} .*${RegExp.escape(runLink(failed, `Run ${failed}`))}`)
          : undefined,
    },
  },
  {
    at: '/ | Workers',
    sql: `
      select coalesce(w.host, holder) as host, w.pid as process, case when w.pid is null then 'command' else 'alive' end as state, w.seen_at as "last seen",
        w.started_at as started, w.version, i.number, i.account
      from ferry.workers w full join ferry.work_under_way i using (holder) order by w.pid nulls last`,
    shows: 'Host, Process, State:state, Doing, Last seen:none, Started:none, Version:none',
    cells: {
      Process: ({ process }) => `${process ?? ''}`,
      Doing: ({ number, account }) =>
        number ? `sending ${importLink(number, `import ${number}`)} of ${account}` : 'idle',
    },
  },
  {
    at: '/ | Blind spots of the last day',
    sql: `select * from ferry.blind_spots(now() - interval '1 day') order by late_from desc`,
    shows: 'Account, Inventory, Late from=late_from, Until',
    cells: { Until: row => (row.fresh_again_at ? plain(row.fresh_again_at) : 'bad:still late') },
  },
  {
    at: '/ | Calls of the last hour',
    sql: `
      select operation, account, sum(calls)::int as calls, max(share) as share, sum(refused)::int as "429"
      from ferry.limit_use() group by operation, account order by coalesce(max(share), 0) desc`,
    shows: 'Operation, Account, Calls, Fullest minute, 429',
    cells: {
      'Fullest minute': ({ share }) =>
        `${share < 0.1 ? (share * 100).toFixed(1) : Math.round(share * 100)} %`,
    },
  },
]

const FOUND = 'What=kind, Name, Id, Account, Since'

const SEARCH: readonly Listed[] = [
  {
    at: '/search?q={request} | With exactly this id',
    sql: `select 'call' as kind, operation, request_id as id, account, started as since from ferry.platform_calls where request_id = '{request}' order by started desc`,
    shows: FOUND,
    cells: { Name: ({ operation, id }) => link(operation, '/ledger/calls', { request_id: id }) },
  },
  {
    at: '/search?q=3 | With exactly this id',
    sql: `select 'import' as kind, file as name, id, account, created_at as since from ferry.imports where id = 3
      union all select 'run', resource, id, account, started_at from ferry.sync_runs where id = 3`,
    shows: FOUND,
    cells: { Name: ({ kind, name, id }) => (kind === 'run' ? runLink(id, name) : importLink(id, name)) },
  },
  {
    at: '/search?q=gra | With these words',
    sql: `
      (select 'alert rule' as kind, 'alert-rules' as inventory, name, id::text, account, valid_from as since from ferry.alert_rules
        where strpos(lower(name || labels::text), 'gra') > 0 order by lower(name) limit 10)
      union all
      (select 'MCP server', 'mcp-servers', server_name, server_id, account, valid_from from ferry.mcp_servers
        where strpos(lower(concat_ws(' ', server_name, description, url)), 'gra') > 0 order by lower(server_name))`,
    shows: FOUND,
    cells: { Name: row => thing(row).replace(/(?<=\)) .*$/, '') },
  },
]

export const MOMENT_TABLES: readonly Listed[] = [
  ...[comparedOf('alert-rules', 'Folder'), comparedOf('mcp-servers', 'Team'), ...AROUND, ...NOW, ...SEARCH],
]
