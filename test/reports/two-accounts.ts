import type { Pool } from 'pg'
import { openFilledDatabase } from '#test/integrations/filled-database.ts'

/** A word, and a number, in whatever belongs to the account `umbrella`. */
export const CANARY = 'kakapo'
export const CANARY_NUMBER = '666000666'
const SIGNS = [CANARY, CANARY_NUMBER, 'umbrella']

/** Whether a text shows anything of the account `umbrella`. */
export const isOfOther = (text: string): boolean => SIGNS.some(sign => text.includes(sign))

/**
 * A database in which everything has happened to the account `default`, and the same to the account `umbrella`: with the same ids of
 * rules and servers, and another word and number wherever a text or an id of something else is. They share their limits.
 */
export async function openTwoAccounts(): Promise<
  AsyncDisposable & { readonly databaseUrl: string; readonly pool: Pool }
> {
  await using opened = new AsyncDisposableStack()
  const { pool, databaseUrl } = opened.use(await openFilledDatabase())
  await pool.query(FILL_THE_REST)
  const { rows } = await pool.query<Column>(COLUMNS)
  for (const [table, columns] of Map.groupBy(rows, row => row.table)) {
    const names = columns.map(({ name }) => `"${name}"`).join(', ')
    await pool.query(`insert into ferry.${table} (${names}) overriding system value
      select ${columns.map(copyOf).join(', ')} from ferry.${table}`)
  }
  await pool.query(
    'insert into ferry.platform_limits (limit_key, operation) select distinct limit_key, operation from ferry.platform_calls on conflict do nothing',
  )
  const kept = opened.move()
  return { databaseUrl, pool, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

/** What `openFilledDatabase` leaves empty, so that no table of an account is. */
const FILL_THE_REST = `
  insert into ferry.audit (account, actor, action, subject_kind, subject_id, because)
    values ('default', 'a person', 'approve', 'run', '1', 'they are gone');
  insert into ferry.events (kind, state, account, subject, data) values ('rule.added', 'raised', 'default', 'a rule', '{}');
  insert into ferry.deliveries (event, receiver, kind, account, subject, data, at)
    select id, 'pager', kind, account, subject, data, at from ferry.events;
  insert into ferry.seen_values (account, resource, field, value, first_run, is_news)
    values ('default', 'mcp-servers', 'transport', 'sse', 1, false);
  insert into ferry.contract_drift (account, resource, field, type, first_run)
    values ('default', 'alert-rules', 'colour', 'text', 1);
  insert into ferry.quarantined_rows (run_id, position, id, reason, raw, fingerprint)
    select max(id), 77, '1', 'a reason', '{"name": "raw"}', gen_random_uuid() from ferry.sync_runs;
  insert into ferry.freshness_targets (account, resource, target, schedule, timezone, folders)
    values ('default', 'alert-rules', '1 millisecond', 'poll-alert-rules', 'UTC', '["0"]'), ('default', 'mcp-servers', '1 hour', 'poll', 'UTC', 'null');
  insert into ferry.schedule_slots (account, schedule, slot) values ('default', 'snapshot-inventory', '2026-01-01Z');
  insert into ferry.schedule_pauses (account, schedule) values ('default', 'snapshot-inventory');
  insert into ferry.leases (name, token, holder, acquired_at, expires_at)
    values ('slot:snapshot-inventory:default:2026-01-01T00:00:00.000Z', gen_random_uuid(), 'a worker', now(), now() + interval '1 hour');
  insert into ferry.import_locales (import_id, locale, sent) select min(id), 'xx-XX', 3 from ferry.imports;
  update ferry.alert_rule_versions set cron_pattern = 'x y z * *', enabled = true, debug_log_enabled = true, flags = '{a flag}'
    where id = (select max(id) from ferry.alert_rule_versions where valid_to is null) and valid_to is null;
  update ferry.imports set wants_limit = 'account:default'`

type Column = { table: string; name: string; type: string; isChecked: boolean; isKey: boolean }

/** The columns of the tables of accounts, with what a copy needs: whether only some texts may be in it. */
const COLUMNS = `
  select c.relname as "table", a.attname as name, format_type(a.atttypid, null) as type, exists (
      select from pg_constraint k where k.conrelid = c.oid and k.contype = 'c' and k.conkey = array[a.attnum]
        and pg_get_constraintdef(k.oid) like '%ANY%') as "isChecked",
    a.attidentity <> '' as "isKey"
  from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
  where c.relnamespace = 'ferry'::regnamespace and c.relkind = 'r' and c.relname not in (
    'migrations', 'backfills', 'database_changes', 'history', 'installation', 'known_database', 'platform_limits', 'receivers', 'workers')
  order by c.relname = 'deliveries', c.relname, a.attnum`

/** What these texts say is looked at; \`server_id\` is shared, as the ids of rules are. */
const KEPT = ['server_id', 'method', 'operation', 'schedule', 'timezone', 'guard', 'limit_key', 'id']
const NUMBERS = /^(id|event|batch_id|call_id|parent_id|import_id|run_id|earlier_import|.*_run)$/

function copyOf({ table, name, type, isChecked, isKey }: Column): string {
  const column = `"${name}"`
  if (name === 'account') return "'umbrella'"
  if (table === 'leases' && name === 'name') return `replace(name, 'default', 'umbrella')`
  if (isKey || (type === 'bigint' && NUMBERS.test(name))) return `${column} + 1000000`
  if (type === 'numeric' && name !== 'id') return `case when ${column} is not null then ${CANARY_NUMBER} end`
  if (type === 'jsonb' && name !== 'scope' && name !== 'folders')
    return `replace(replace(${column}::text, '": "', '": "${CANARY} '), '{}', '{"${CANARY}": "${CANARY}"}')::jsonb`
  if (name === 'cron_pattern') return `'${CANARY} ' || ${column}`
  if (type === 'text' && !isChecked && !KEPT.includes(name)) return `${column} || ' ${CANARY}'`
  return column
}
