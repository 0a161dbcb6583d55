import { setTimeout as delay } from 'node:timers/promises'
import { Client, type QueryResult } from 'pg'
import { expect, onTestFinished, test, vi } from 'vitest'
import { removeOldRows } from '#jobs/prune.ts'
import { takeSnapshot } from '#src/inventory/history/snapshots.ts'
import { ADA } from '#test/support/acted-by.ts'
import { openFerryHarness } from '#test/support/ferry-harness.ts'
import { rules, scriptedAccount, syncListed, upTo, withAccounts } from './scripted-account.ts'

/* A fault of one part, and what becomes of the others. */

const NEVER = new AbortController().signal
const ALL = rules(upTo(5))

test('a snapshot of which one run breaks fails only once the other run has ended', async () => {
  await using harness = await openFerryHarness({ rules: 0, servers: 0 })
  const account = scriptedAccount('default', () => ALL)
  const slow = {
    ...account.client,
    async *listAlertRules(...args: Parameters<typeof account.client.listAlertRules>) {
      await delay(300)
      return yield* account.client.listAlertRules(...args)
    },
    listMcpPage: () => Promise.reject(new TypeError('broken')),
  }
  const context = withAccounts(harness, { ...account, client: slow })
  const taken = takeSnapshot(context, { account: 'default', trigger: 'manual' }, NEVER)
  await expect(taken).rejects.toThrow('broken')
  expect(await harness.query('select resource, status from ferry.sync_runs order by resource')).toEqual([
    { resource: 'alert-rules', status: 'succeeded' },
    { resource: 'mcp-servers', status: 'failed' },
  ])
})

test('that the database was exchanged is said of the first run after it alone, also if the next ones list the same', async () => {
  await using harness = await openFerryHarness({ rules: 0, servers: 0 })
  await syncListed(harness, [ALL])
  await harness.query(`insert into ferry.database_changes (cause, known, found) values ('copy', '{}', '{}')`)
  const said = async (listed: typeof ALL) => (await syncListed(harness, [listed])).message
  expect(await said(rules(upTo(6)))).toContain('may have been observed before')
  for (let run = 1; run <= 3; run++) expect(await said(rules(upTo(6)))).toBeNull()
})

test('a table whose old rows cannot be removed keeps no other table from it', async () => {
  await using harness = await openFerryHarness({ rules: 0, servers: 0 })
  const { pool } = harness.ferry
  await harness.query(`
    create function ferry.refuse() returns trigger language plpgsql as $$ begin raise exception 'locked'; end $$`)
  await harness.query(`
    create trigger refuse before delete on ferry.sync_runs for each statement execute function ferry.refuse()`)
  await harness.query(`
    insert into ferry.events (kind, account, subject, data, state, at)
    select 'run.failing', 'default', 'x', '{}', 'raised', now() - interval '400 days'`)
  await harness.query(`
    insert into ferry.sync_runs (account, resource, trigger, scope, guard, fingerprint_version, status, started_at, finished_at)
    select 'default', 'alert-rules', 'manual', '{}', 'x', 1, 'skipped', at, at from (select now() - interval '400 days') t (at)`)
  const { retention } = harness.ferry.config
  await expect(removeOldRows({ pool, retention }, ADA, NEVER)).rejects.toThrow('locked')
  expect(await harness.query('select from ferry.events')).toEqual([])
})

test('a run whose commit succeeded, though its answer was lost, is reported as it is', async () => {
  await using harness = await openFerryHarness({ rules: 0, servers: 0 })
  await syncListed(harness, [ALL])
  const query = Client.prototype.query as (this: Client, ...args: unknown[]) => Promise<unknown>
  let isLost = false
  const spy = vi.spyOn(Client.prototype, 'query').mockImplementation(function (
    this: Client,
    ...args: unknown[]
  ) {
    const answer = query.apply(this, args)
    return isLost || args[0] !== 'commit' ? answer : answer.then(() => lose(this))
  } as never)
  onTestFinished(() => spy.mockRestore())
  /** Once the second run is applied. */
  const lose = async (client: Client) => {
    const applied = query.call(client, 'select from ferry.sync_runs where applied_at is not null')
    if (((await applied) as QueryResult).rows.length < 2) return
    isLost = true
    throw new Error('Connection terminated unexpectedly')
  }
  expect(await syncListed(harness, [rules(upTo(6))])).toMatchObject({
    status: 'succeeded',
    added: 1,
    message: null,
  })
  expect(isLost).toBe(true)
})
