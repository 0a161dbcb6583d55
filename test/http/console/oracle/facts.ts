import { importsSql, outcomeOf } from './ledger-lists.ts'
import { type Facts, link, plain, type Row, runLink, state, took } from './listed.ts'
import { DONE, REFUSED, RUNNING } from './thing-pages.ts'

/* What the pages of a run, a hold, an import, a rule and a server say of it. */

const RUN_FACTS =
  'Account, Inventory, Status:state, Trigger, Started, Finished, Took, Seen, Added, Changed, Removed, Unchanged, Quarantined'

const factsOfRun = (run: string, shows: string): Facts => ({
  at: `/ledger/runs/{${run}}`,
  sql: `select *, resource as inventory, started_at as started, finished_at as finished, slot as "due at", error_code as error, recovered as cleared,
    fired as "began to fire", requests as calls, ${took('started_at', 'finished_at')} as took from ferry.sync_runs where id = {${run}}`,
  heading: ({ id }) => `Run ${id}`,
  shows,
})

const factsOfHold = (run: string, more: string): Facts => ({
  at: `/ledger/holds/{${run}}`,
  sql: `select h.*, resource as inventory, cardinality(ids) as rows, ended_at as ended, a.actor as "decided by", a.because as why
    from ferry.removal_holds h left join ferry.audit a on a.action = 'approve' and a.subject_id = h.last_run::text where last_run = {${run}}`,
  heading: ({ inventory, account }) => `Removals held: ${inventory} of ${account}`,
  shows: `State, Account, Inventory, Rows, First missing${more}`,
  cells: {
    State: ({ outcome }) => (outcome ? outcomeOf(outcome) : 'warn:open'),
    'First missing': row => `${plain(row.opened_at)}, ${runLink(row.opened_by_run)}`,
    'Last missing': row => runLink(row.last_run),
  },
})

const factsOfImport = (id: number, shows: string): Facts => ({
  at: `/imports/${id}`,
  sql: `select * from (${importsSql(`f.import = ${id}`)}) i, lateral (
    select count(*) filter (where state = 'sent')::int as batches_sent from ferry.import_batches where import_id = i.import) b`,
  heading: () => `Import ${id}`,
  shows: `Sent, ${shows}Batches sent, Calls, Limit, After an uncertain outcome, Created, ${id === DONE ? 'Ended=finished_at, Took' : 'Active for=took'}`,
  cells: {
    Sent: ({ sent, to_be_sent: all }) =>
      `${plain(sent)} of ${plain(all)} rows (${Math.round((sent / all) * 100)} %)`,
    Rate: () => /^[\d,]+ rows per minute$/,
    'Time left': () => /^(about \d|unknown so far)/,
    'Batches sent': row => `${plain(row.batches_sent)} of ${plain(row.batches)}`,
    Limit: ({ account }) =>
      account === 'default' ? /^\d+ calls? in 1 (s|min)/ : 'unknown: this worker does not have the account',
    'After an uncertain outcome': row => (row.on_uncertain === 'hold' ? 'a person decides' : 'sent again'),
  },
})

export const FACTS: readonly Facts[] = [
  factsOfRun('run', `${RUN_FACTS}, Began to fire, Cleared, Calls, Pages`),
  factsOfRun('nightly', `${RUN_FACTS.replace('Started', 'Due at, Started')}, Calls, Pages`),
  factsOfRun(
    'failed',
    `${RUN_FACTS.replace('Took', 'Took, Error, Request id=request_id:calls')}, Calls, Pages`,
  ),
  factsOfHold('open', ''),
  factsOfHold('approved', ', Last missing, Ended, Decided by, Why'),
  factsOfImport(DONE, ''),
  factsOfImport(REFUSED, ''),
  factsOfImport(RUNNING, 'Rate, Time left, '),
  {
    at: '/rules/{rule_account}/{rule}',
    sql: `select r.*, f.began as "fired last", f.ended, v.team from ferry.alert_rules r join ferry.alert_rule_firings f using (account, id)
      join ferry.alert_rule_versions v using (account, id, valid_from) where r.id = {rule} order by f.began desc limit 1`,
    heading: ({ name }) => name,
    shows: `State, Fired last, Team, Folder, Data source=ds_type, Schedule, Delay, as given=delay_seconds, Created by=creator_name,
      Last edited by, This version since=valid_from`,
    cells: {
      State: ({ enabled, ended }) => state(enabled ? 'enabled' : 'disabled') + (ended ? '' : ' bad:firing'),
      Folder: ({ account, folder_id: folder }) =>
        `${link(folder, '/rules', { account, folder })}, ${link('its changes', '/changes', { account, folder })}`,
      Schedule: ({ cron_pattern, timezone }) => `${cron_pattern} ${timezone || 'no time zone'}`,
      'Last edited by': ({ updater_name: by }) => link(by, '/changes', { by }),
    },
  },
  {
    at: '/servers/{server_account}/{server}',
    sql: `
      select *, url as address, auth_mode as "sign-in", (
        select json_agg(r order by array_position('{high,medium,low}', severity), reason) from (
          select severity, reason, count(*)::int as risks from ferry.mcp_risk where server_id = '{server}' group by severity, reason) r) as risks
      from ferry.mcp_servers where server_id = '{server}'`,
    heading: ({ server_name }) => server_name,
    shows: `State=status:state, Risks, Team=team_id, May be edited with the key, Description, Transport, Address,
      Timeout to connect, as given=connect_timeout, Timeout of a call, as given=call_timeout, Sign-in, Created by (id)=created_by,
      This version since=valid_from`,
    cells: {
      Risks: ({ account, risks }) =>
        risks
          .map(
            ({ severity, reason }: Row) =>
              `${state(severity)} ${link(reason, '/mcp/risks', { account, reason })}`,
          )
          .join(' '),
      'May be edited with the key': row => (row.can_edit ? 'yes' : 'no'),
    },
  },
]
