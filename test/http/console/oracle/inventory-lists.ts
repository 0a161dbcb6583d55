import {
  differencesInWords,
  type Listed,
  link,
  marked,
  plain,
  type Row,
  runLink,
  serverLink,
  state,
  teamLink,
  thing,
} from './listed.ts'

/* The lists of rules, servers, and what happened to them. */

/** The team of a rule, by its labels. */
const TEAM = `(select l.value from jsonb_each_text(r.labels) l
  join unnest('{team,owner,squad}'::text[]) with ordinality n (name, nth) on n.name = lower(l.key)
  where l.value <> '' order by nth limit 1)`

const rulesOf = (from: string, firing: string) => `
  select r.id, r.name, r.folder_id as folder, ${TEAM} as team, r.enabled, f.began is not null as firing,
    f.began as "firing since", r.valid_from as "unchanged since", r.updater_name as "updated by", r.account, r.labels,
    lower(r.name) collate "C" as lower_name
  from ${from} r left join (${firing}) f on f.id = r.id and f.account = r.account
  order by lower_name, account, id`

export const OF_ACCOUNT = { account: `'branch'` }
const MIDDLE = (column: string) => `percentile_disc(0.5) within group (order by ${column})`
/** What a list of times is bounded by. */
export const SINCE_AND_UNTIL = (column: string) =>
  ({ since: [MIDDLE(column), `${column} >= $1`], until: [MIDDLE(column), `${column} < $1`] }) as const

export const RULES: Listed = {
  at: '/rules | Alert rules',
  sql: rulesOf('ferry.alert_rules', 'select * from ferry.alert_rules_firing'),
  shows: 'Rule:thing, Folder, Team, State, Firing since, Unchanged since, Last edited by=updated by',
  cells: {
    Folder: ({ folder }, query) => link(folder, '/rules', { ...query, folder }),
    Team: ({ team }, query) => (team ? link(team, '/rules', { ...query, team }) : '–'),
    State: ({ enabled, firing }) => state(enabled ? 'enabled' : 'disabled') + (firing ? ' bad:firing' : ''),
  },
  csv: 'id, name, folder, team, enabled, firing, firing since, unchanged since, updated by, account',
  filters: {
    ...OF_ACCOUNT,
    folder: 'max(folder)',
    team: 'max(team)',
    words: [`split_part(max(name), ' ', 1)`, `strpos(lower(name || labels::text), lower($1)) > 0`],
    name: ['upper(right(max(name), 5))', `strpos(lower(name), lower($1)) > 0`],
    label: [`max('severity=' || (labels ->> 'severity'))`, `'severity=' || (labels ->> 'severity') = $1`],
    firing: [`'no'`, `firing = ($1 = 'yes')`],
    enabled: [`'yes'`, `enabled = ($1 = 'yes')`],
  },
  sorts: {
    folder: ['folder, lower_name, account, id', 'true'],
    updated: ['"unchanged since" desc, account desc, id desc', 'true'],
    'firing since': ['"firing since", account, id', 'firing'],
  },
}

const RULES_THEN: Listed = {
  ...RULES,
  at: '/rules?asOf={earlier} | Alert rules',
  sql: rulesOf(
    `ferry.alert_rules_as_of('{earlier}')`,
    `select * from ferry.alert_rule_firings where began <= '{earlier}' and coalesce(ended, 'infinity') > '{earlier}'`,
  ),
}

const serversOf = (from: string) => `
  select server_id as id, server_name as name, team_id as team, status, transport, auth_mode as "sign-in", jsonb_array_length(tools) as tools,
    valid_from as "unchanged since", account, description, url, server_name as server
  from ${from} order by lower(server_name), account, id`

export const SERVERS: Listed = {
  at: '/servers | MCP servers',
  sql: serversOf('ferry.mcp_servers'),
  shows: 'Server:server, Account, Team, State=status:state, Transport, Sign-in, Tools, Unchanged since',
  cells: { Team: (row, query) => (row.team === null ? '–' : teamLink(row, query)) },
  csv: 'id, name, team, status, transport, sign-in, tools, unchanged since, account',
  filters: {
    ...OF_ACCOUNT,
    team: 'max(team)',
    words: [
      `split_part(max(name), ' ', 1)`,
      `strpos(lower(concat_ws(' ', name, description, url)), lower($1)) > 0`,
    ],
    name: ['upper(right(max(name), 4))', `strpos(lower(name), lower($1)) > 0`],
    enabled: [`'no'`, `(status = 'enabled') = ($1 = 'yes')`],
  },
  sorts: {
    team: ['coalesce(team, -1), lower(name), account, id', 'true'],
    updated: ['"unchanged since" desc, account desc, id desc', 'true'],
  },
}

const SERVERS_THEN: Listed = {
  ...SERVERS,
  at: '/servers?asOf={earlier} | MCP servers',
  sql: serversOf(`ferry.mcp_servers_as_of('{earlier}')`),
}

const TOOLS: Listed = {
  at: '/mcp/tools | Tools by name',
  sql: `select name as tool, server_name as server, server_id as id, account, description from ferry.mcp_server_tools
    order by tool, account, id, position`,
  shows: 'Tool, Server:server, Account, Description:marked',
  csv: 'tool, server, id, account, description',
  filters: {
    ...OF_ACCOUNT,
    text: [
      `upper(split_part(max(description), ' ', 1))`,
      `strpos(lower(tool || ' ' || description), lower($1)) > 0`,
    ],
  },
}

const TEAMS: Listed = {
  at: '/mcp/teams | Teams, those with the most servers first',
  sql: `
    select team_id as team, account, count(*)::int as servers, count(*) filter (where status = 'enabled')::int as enabled,
      coalesce(sum(jsonb_array_length(tools)), 0)::int as tools, count(*) filter (where auth_mode = 'shared')::int as "shared sign-in",
      max(valid_from) as "last change"
    from ferry.mcp_servers group by account, team_id order by servers desc, account, team_id`,
  shows: 'Team:team, Account, Servers, Enabled, Tools, Shared sign-in, Last change',
  csv: 'team, account, servers, enabled, tools, shared sign-in, last change',
}

/** The gravest first. */
const GRADE = `array_position('{high,medium,low}', severity)`

const RISKS: Listed = {
  at: '/mcp/risks | Possible risks, the gravest first',
  sql: `select server_name as server, server_id as id, account, team_id as team, severity, reason, tool, detail as found from ferry.mcp_risk
    order by ${GRADE}, server, account, id, reason, tool nulls first, found`,
  shows: 'Severity:state, Server:server, Account, Team:team, Reason, Tool, Found',
  csv: 'server, id, account, team, severity, reason, tool, found',
  filters: { ...OF_ACCOUNT, reason: 'max(reason)' },
}

/** Words of what each reason means. */
const MEANINGS: Readonly<Record<string, RegExp>> = {
  ...{
    'invisible characters': /hide/,
    'no https': /Traffic/,
    'tool deletes': /deletes/,
    'tool writes': /changes something/,
  },
  ...{
    'tool count differs': /counts/,
    'shared credentials': /same credentials/,
    'name used twice': /Servers of one account/,
  },
  ...{ 'tool name used twice': /two tools/, 'disabled but listed': /is disabled/ },
}

const REASONS: Listed = {
  at: '/mcp/risks | Findings by reason, the gravest first',
  sql: `select severity, reason, count(*)::int as found from ferry.mcp_risk group by severity, reason order by ${GRADE}, found desc, reason`,
  shows: 'Severity:state, Reason, Found, Meaning',
  cells: {
    Reason: ({ reason }) => link(reason, `/mcp/risks?${new URLSearchParams({ reason })}#servers`),
    Meaning: ({ reason }) => MEANINGS[reason] ?? 'a meaning',
  },
}

const TOOL_CHANGES: Listed = {
  at: '/mcp/changes | Servers whose tools changed, newest first',
  sql: `
    select c.observed_at as observed, c.server_name as server, c.server_id as id, c.account, v.opened_by_run as run,
      jsonb_agg(to_jsonb(c) order by tool, change) as changes, string_agg(tool || ' ' || change, ', ' order by tool, change) as tools
    from ferry.mcp_tool_changes('-infinity') c join ferry.mcp_server_versions v
      on v.account = c.account and v.server_id = c.server_id and v.valid_from = c.observed_at
    group by c.observed_at, c.server_name, c.server_id, c.account, v.opened_by_run order by observed desc, account desc, id desc`,
  rows: 20,
  shows: 'Observed, Server, Old to new',
  cells: {
    Observed: ({ observed, run }) => `${plain(observed)} ${runLink(run)}`,
    Server: row => `${serverLink(row)} in ${row.account}`,
    'Old to new': ({ changes }) => changes.map(toolChange).join(' '),
  },
  csv: 'observed, server, id, account, tools',
  filters: { ...OF_ACCOUNT, ...SINCE_AND_UNTIL('observed') },
}

function toolChange({ change, tool, before, after }: Row): string {
  return `${state(change)} ${tool}: ${marked(before && after ? `${before} → ${after}` : (before ?? after))};`
}

export const CHANGES: Listed = {
  at: '/changes | Changes, newest first',
  sql: `select * from (
    select c.change, c.id::text, c.name, c.name as title, c.account, c.observed_at as when, 'alert-rules' as inventory, c.run_id as run,
      c.updater_name as by, c.before, c.after, null::int as rows, v.folder_id as folder
    from ferry.alert_rule_changes c join lateral (
      select folder_id from ferry.alert_rule_versions v where v.account = c.account and v.id = c.id and v.valid_from <= c.observed_at
      order by valid_from desc limit 1) v on true
    where not c.first_reading
    union all
    select change, server_id, 'MCP server ' || server_name, server_name, account, observed_at, 'mcp-servers', run_id, null, before, after, null, null
    from ferry.mcp_server_changes where not first_reading
    union all
    select 'first reading', null, first_read || case resource when 'alert-rules' then ' alert rules of ' else ' MCP servers of ' end || account, null,
      account, applied_at, resource, id, null, null, null, first_read, null
    from ferry.sync_runs where first_read > 0) c
    order by "when" desc, inventory, account, case inventory when 'alert-rules' then id::numeric end, id collate "C"`,
  shows: 'Observed, Change:state, Rule or server, Old to new:differences, By',
  cells: {
    Observed: ({ when, run }) => `${plain(when)} ${runLink(run)}`,
    'Rule or server': row =>
      row.id
        ? thing({ ...row, name: row.title })
        : `${row.name.replace(' of ', ' in ')}: existed before the first reading`,
    By: ({ by }, query) => (by === null ? '' : link(by, '/changes', { ...query, by })),
  },
  csv: 'change, name, what, by, when, account, id',
  more: ({ before, after }) => ({ what: differencesInWords(before, after) }),
  filters: {
    ...OF_ACCOUNT,
    ...SINCE_AND_UNTIL('"when"'),
    by: ['upper(max(by))', 'lower(by) = lower($1)'],
    // Those that a first reading found have it as an entry of their own.
    rule: [
      `max(id) filter (where inventory = 'alert-rules' and change = 'added')`,
      `id = $1 and inventory = 'alert-rules'`,
    ],
    server: [
      `max(id) filter (where inventory = 'mcp-servers' and change = 'added')`,
      `id = $1 and inventory = 'mcp-servers'`,
    ],
    resource: [`'mcp-servers'`, 'inventory = $1'],
    kind: [`'removed'`, 'change = $1'],
    // The first reading found rules of each folder.
    folder: ['max(folder)', `(folder = $1 or (rows is not null and inventory = 'alert-rules'))`],
  },
}

const editorsOf = (since: string, more = '') => `
  select updater_name as person, updater_id as id, account, edits, folders, last_edit as "last edit"
  from ferry.edits_by_person(now() - interval '${since}'${more}) order by edits desc, account, updater_id`

const EDITORS: Listed = {
  at: '/changes/editors | People by number of edits',
  sql: editorsOf('30 days'),
  shows: 'Person, Account, Edits, Folders, Last edit',
  cells: {
    Person: ({ person: by, account }, { folder, period = '30d' }) =>
      link(by, '/changes', { by, account, folder, since: period }),
  },
  csv: 'person, id, account, edits, folders, last edit',
  filters: OF_ACCOUNT,
}

const EDITORS_OF_FOLDER: Listed = {
  ...EDITORS,
  at: '/changes/editors?period=24h&folder={folder} | People by number of edits',
  sql: editorsOf('24 hours', ', of_folder => {folder}'),
  filters: {},
}

export const INVENTORY_LISTS: readonly Listed[] = [
  ...[
    RULES,
    RULES_THEN,
    SERVERS,
    SERVERS_THEN,
    TOOLS,
    TEAMS,
    RISKS,
    REASONS,
    TOOL_CHANGES,
    CHANGES,
    EDITORS,
    EDITORS_OF_FOLDER,
  ],
]
