import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from 'pg'
import { expect, inject, test } from 'vitest'
import { migrate } from '#src/db/migrate.ts'
import { onServer, withDatabase } from '#test/support/database.ts'

const FOLDER = fileURLToPath(new URL('../../drizzle', import.meta.url))

/** The newest migration of a schema that is in use: databases of today have it. */
const IN_USE = '0011_permits_and_checked_states'

const RULES = 100_000
/** Each rule changed once in the year. */
const VERSIONS = 2 * RULES
const IMPORTED = 50_000

test('a database with 100,000 rules, a year of versions and an open import is migrated in seconds, and keeps its rows', async () => {
  const { serverUrl, template } = inject('database')
  const name = `${template}_size_${randomBytes(4).toString('hex')}`
  await onServer(serverUrl, `create database ${name} template template0 encoding 'UTF8'`)
  await using cleanUp = new AsyncDisposableStack()
  cleanUp.defer(() => onServer(serverUrl, `drop database ${name} with (force)`))
  const url = withDatabase(serverUrl, name)
  const client = new Client({ connectionString: url })
  await client.connect()
  cleanUp.defer(() => client.end())
  const newer = await migrateToSchemaInUse(client)
  await fill(client)
  const before = await stateOf(client)

  // A migration that takes rows times rows would take longer than this test may.
  expect(await migrate(url)).toBe(newer)
  expect(await stateOf(client)).toEqual(before)
  expect(before).toEqual({
    current: RULES,
    versions: VERSIONS,
    pending: IMPORTED,
    status: 'running',
    ready: 100,
  })
})

/** Returns how many migrations are newer. */
async function migrateToSchemaInUse(client: Client): Promise<number> {
  const { entries }: { entries: { tag: string; when: number }[] } = JSON.parse(
    readFileSync(join(FOLDER, 'meta/_journal.json'), 'utf8'),
  )
  await client.query(`create schema ferry;
    create table ferry.migrations (id serial primary key, hash text not null, created_at bigint)`)
  const inUse = entries.findIndex(({ tag }) => tag === IN_USE) + 1
  for (const { tag, when } of entries.slice(0, inUse)) {
    await client.query(readFileSync(join(FOLDER, `${tag}.sql`), 'utf8'))
    await client.query('insert into ferry.migrations (hash, created_at) values ($1, $2)', [tag, when])
  }
  return entries.length - inUse
}

async function fill(client: Client): Promise<void> {
  await client.query(
    `insert into ferry.alert_rule_versions (account, id, valid_from, valid_to, opened_by_run, closed_by_run, name,
       fingerprint, account_id, folder_id, labels, ds_type, enabled, debug_log_enabled, cron_pattern, delay_seconds,
       creator_id, creator_name, updater_id, updater_name, created_at, updated_at)
     select 'a', n / 2, '2025-11-01'::timestamptz + (n % 2) * interval '180 days',
       case when n % 2 = 0 then '2025-11-01'::timestamptz + interval '180 days' end, 1, case when n % 2 = 0 then 2 end,
       'rule ' || n / 2, md5(n::text)::uuid, 1, n % 200, '{"team": "core", "service": "checkout"}', 'prometheus', true, false,
       '* * * * *', 0, 1, 'Grace', 1, 'Ada', 0, 0
     from generate_series(0, $1::int - 1) n`,
    [VERSIONS],
  )
  const { rows } = await client.query<{ id: string }>(
    `insert into ferry.imports (account, page_id, method, status, file, options, on_uncertain, update_existing, batch_rows,
       staged_at, confirmed_at, started_at, read, recipients, last_line)
     values ('a', 1, 'email', 'running', 'people.csv', '{}', 'resend', false, 500, now(), now(), now(), $1::int, $1::int, $1::int)
     returning id`,
    [IMPORTED],
  )
  await client.query(
    `insert into ferry.import_recipients (import_id, line, recipient_hash, "all", locale, recipient)
     select $1, n, md5(n::text)::uuid, true, 'en-US', 'p' || n || '@example.com' from generate_series(1, $2::int) n`,
    [rows[0]?.id, IMPORTED],
  )
  await client.query(
    `insert into ferry.import_batches (import_id, from_line, to_line, rows, state)
     select $1, n * 500 + 1, (n + 1) * 500, 500, 'ready' from generate_series(0, 99) n`,
    [rows[0]?.id],
  )
  await client.query('analyze')
}

async function stateOf(client: Client): Promise<unknown> {
  const { rows } = await client.query(
    `select (select count(*)::int from ferry.alert_rules) as current,
       (select count(*)::int from ferry.alert_rule_versions) as versions,
       (select count(*)::int from ferry.import_recipients where recipient is not null) as pending,
       (select status from ferry.imports) as status,
       (select count(*)::int from ferry.import_batches where state = 'ready') as ready`,
  )
  return rows[0]
}
