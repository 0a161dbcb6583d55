import type { Pool } from 'pg'
import { openFilledDatabase } from '#test/integrations/filled-database.ts'
import { copyToAccounts } from '#test/support/copied-account.ts'

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
  const other = { account: 'umbrella', word: CANARY, number: CANARY_NUMBER, idsLater: 1_000_000, later: '0' }
  await copyToAccounts(pool, [{ ...other, kept: ['limit_key'] }])
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
