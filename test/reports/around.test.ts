import { describe, expect, test } from 'vitest'
import { approveRun } from '#src/inventory/holds/approve.ts'
import { syncInventory } from '#src/inventory/sync.ts'
import { type Around, firingInWords, loadAround } from '#src/reports/around.ts'
import { prepareReader } from '#src/reports/reader-role.ts'
import { ADA } from '#test/support/acted-by.ts'
import { type FerryHarness, openFerryHarness } from '#test/support/ferry-harness.ts'
import { letTimePass } from '#test/support/let-time-pass.ts'
import { addRun, ageRuns } from '#test/support/runs.ts'
import { insertFiring, insertRuleVersion } from '#test/support/versions.ts'
import { connectMember } from './member.ts'

const HOUR_MS = 3_600_000

type Three = [string, string, string]

/** What happened in the last hour, as `kind of name`, with who did it. */
async function linesOf(harness: FerryHarness, filter: Partial<Parameters<typeof loadAround>[1]> = {}) {
  const { rows } = await around(harness, filter)
  return rows.filter(({ kind }) => kind !== 'blind' && kind !== 'decision').map(lineOf)
}

function lineOf({ kind, name, who, whileFiring }: Around['rows'][number]): string {
  return [kind, name, who && `by ${who}`, whileFiring && 'while firing'].filter(Boolean).join(' ')
}

const around = (harness: FerryHarness, filter: Partial<Parameters<typeof loadAround>[1]> = {}, limit = 100) =>
  loadAround(harness.ferry.pool, { at: new Date(), spanMs: HOUR_MS, ...filter }, limit)

async function setup() {
  const harness = await openFerryHarness({ rules: 0, servers: 0 })
  const { state } = harness.sandbox
  const labels = { team: 'payments', service: 'checkout' }
  state.addRule({ id: 1n, name: 'p99 latency', folder_id: 7n, labels, enabled: true, triggered: false })
  state.addRule({
    id: 2n,
    name: 'disk full',
    folder_id: 8n,
    labels: { team: 'core' },
    enabled: true,
    triggered: false,
  })
  await harness.sync()
  return harness
}

describe('what happened around a moment', () => {
  test('a rule that fires, clears and fires again is shown three times, and its silencing as such', async () => {
    await using harness = await setup()
    const { state } = harness.sandbox
    for (const triggered of [true, false, true]) {
      state.changeRule(1n, { triggered })
      await harness.sync()
    }
    state.changeRule(1n, { enabled: false, updater_name: 'Eve' })
    await harness.sync()
    state.changeRule(2n, { name: 'disk nearly full', updater_name: 'Ada' })
    await harness.sync()
    expect(await linesOf(harness)).toEqual([
      'inventory.first_read',
      'rule.fired p99 latency',
      'rule.cleared p99 latency',
      'rule.fired p99 latency',
      'rule.disabled p99 latency by Eve while firing',
      'rule.changed disk nearly full by Ada',
    ])
  })

  test('what begins to fire in the reading that sees the edit was not edited while it fired', async () => {
    await using harness = await setup()
    harness.sandbox.state.changeRule(1n, { triggered: true, enabled: false, updater_name: 'Eve' })
    await harness.sync()
    expect(await linesOf(harness, { team: 'payments' })).toEqual([
      'inventory.first_read',
      'rule.disabled p99 latency by Eve',
      'rule.fired p99 latency',
    ])
  })

  test('a rule that is removed while it fires did not clear; it returns', async () => {
    await using harness = await setup()
    const { state } = harness.sandbox
    const was = state.rules.get(1n)
    state.changeRule(1n, { triggered: true })
    await harness.sync()
    state.removeRule(1n)
    state.changeRule(2n, { triggered: true })
    await harness.sync({ acceptRemovals: true })
    state.addRule({ ...was, triggered: false })
    await harness.sync()
    expect(await linesOf(harness, { folder: 7n })).toEqual([
      'inventory.first_read',
      'rule.fired p99 latency',
      'rule.removed p99 latency while firing',
      // When it was created says nothing of who brought it back.
      'rule.returned p99 latency',
    ])
  })

  test('what fires and clears in one account did not in another that has the same ids and was read at that instant', async () => {
    await using harness = await setup()
    const { pool } = harness.ferry
    const [before, then, later] = [3, 2, 1].map(n =>
      new Date(Date.now() - n * 600_000).toISOString(),
    ) as Three
    for (const account of ['a', 'b']) {
      for (const [appliedAt, end] of [
        [before, {}],
        [then, { fired: 1 }],
        [later, { recovered: 1 }],
      ] as const) {
        await addRun(pool, { account, end: { appliedAt, ...end } })
      }
      for (const id of [1n, 2n]) {
        await insertRuleVersion(pool, {
          account,
          id,
          name: `${id} of ${account}`,
          from: before,
          appeared: 'first reading',
        })
      }
    }
    await insertFiring(pool, { account: 'a', id: 1n, from: then, to: later })
    await insertFiring(pool, { account: 'b', id: 2n, from: then, to: later })
    const lines = await linesOf(harness)
    expect(lines.filter(line => line.includes(' of ')).sort()).toEqual([
      'rule.cleared 1 of a',
      'rule.cleared 2 of b',
      'rule.fired 1 of a',
      'rule.fired 2 of b',
    ])
  })

  test('words narrow by the name and the labels, in any case; a folder and a team leave that rule', async () => {
    await using harness = await setup()
    const { state } = harness.sandbox
    for (const id of [1n, 2n]) state.changeRule(id, { triggered: true })
    state.addServer({ server_id: 's', server_name: 'Checkout tools' })
    await harness.sync()
    await harness.sync({ resource: 'mcp-servers' })
    const fired = async (filter: object) =>
      (await linesOf(harness, filter)).filter(line => line.startsWith('rule.') || line.startsWith('server.'))
    expect(await fired({ words: 'CHECKOUT latency' })).toEqual(['rule.fired p99 latency'])
    expect(await fired({ words: 'checkout disk' })).toEqual([])
    expect(await fired({ folder: 8n })).toEqual(['rule.fired disk full'])
    expect(await fired({ team: 'core' })).toEqual(['rule.fired disk full'])
    expect(await fired({ account: 'other' })).toEqual([])
    const { firing } = await around(harness, { words: 'full' })
    expect(firing).toMatchObject([
      { name: 'disk full', folderId: '8', team: 'core', enabled: true, known: true },
    ])
    const { rows, ...few } = await around(harness, {}, 1)
    expect(rows.filter(({ kind }) => kind !== 'blind')).toHaveLength(1)
    expect(few).toMatchObject({ firing: [{}], isCut: true })
  })

  test('removals that are held are shown when they are held, and as removals when they are approved', async () => {
    await using harness = await openFerryHarness({ rules: 20, servers: 0 })
    const { state } = harness.sandbox
    await harness.sync()
    await harness.sync()
    const heldFrom = await harness.query<{ at: Date }>('select clock_timestamp() as at')
    for (const id of state.rules.ids().slice(0, 15)) state.removeRule(id)
    expect(await harness.sync()).toMatchObject({ status: 'held' })
    expect(await harness.sync()).toMatchObject({ status: 'held' })
    const { rows: held } = await around(harness)
    expect(held.filter(({ kind }) => kind === 'removals.held')).toMatchObject([{ after: '{"rows": 15}' }])
    await harness.sync({ acceptRemovals: true })
    const { rows } = await around(harness)
    const removed = rows.filter(({ kind }) => kind === 'rule.removed')
    expect(removed).toHaveLength(15)
    // They were gone at the first of the held readings: that is when they may have been removed.
    for (const { since } of removed) expect(since?.getTime()).toBeLessThanOrEqual(heldFrom[0]!.at.getTime())
  })

  test('what is approved and what is left held were both gone when they were first held', async () => {
    await using harness = await openFerryHarness({ rules: 20, servers: 0 })
    const { state } = harness.sandbox
    await harness.sync()
    const [last, ...gone] = state.rules.ids().slice(0, 16)
    const instants: Date[] = []
    const now = async () =>
      instants.push((await harness.query<{ at: Date }>('select clock_timestamp() as at'))[0]!.at)
    await harness.sync()
    await now()
    for (const id of gone) state.removeRule(id)
    const first = await harness.sync()
    await now()
    state.removeRule(last!)
    const later = await harness.sync()
    const signal = new AbortController().signal
    for (const { run } of [first, later]) await approveRun(harness.ferry, run, ADA, signal)
    const { rows } = await around(harness)
    expect(rows.filter(({ kind }) => kind === 'removals.held')).toMatchObject([
      { after: '{"rows": 15}' },
      { after: '{"rows": 1}' },
    ])
    const removed = rows.filter(({ kind }) => kind === 'rule.removed')
    expect(removed).toHaveLength(16)
    for (const { id, since } of removed) {
      expect(since?.getTime()).toBeLessThanOrEqual(instants[id === `${last}` ? 1 : 0]!.getTime())
    }
  })

  test('of a time before the first reading nothing is known, nor of an inventory that cannot be read', async () => {
    await using harness = await setup()
    const before = await around(harness, { at: new Date(Date.now() - 2 * HOUR_MS) })
    expect(before.rows).toMatchObject([
      {
        kind: 'blind',
        account: 'default',
        inventory: 'alert-rules',
        since: null,
        observedAt: expect.any(Date),
      },
    ])
    await ageRuns(harness.ferry.pool, '10 min')
    harness.sandbox.state.inject({ kind: 'error', code: 'AccessDenied' })
    await harness.sync()
    const { rows } = await around(harness)
    expect(rows.at(-1)).toMatchObject({
      kind: 'blind',
      since: expect.any(Date),
      observedAt: null,
      after: '{"error_code": "AccessDenied"}',
    })
    // However few rows are asked for, all that is not known is among them.
    const few = await around(harness, {}, 1)
    expect(few.rows.map(({ kind }) => kind)).toEqual(rows.map(({ kind }) => kind))
    expect(few.rows.filter(({ kind }) => kind === 'blind')).toHaveLength(2)
  })

  test('in a blind time, what fired before it has a duration, and what is first seen firing after it has none', async () => {
    await using harness = await setup()
    const { state } = harness.sandbox
    state.changeRule(1n, { triggered: true })
    await harness.sync()
    await letTimePass(harness.ferry.pool, '1 hour')
    state.changeRule(2n, { triggered: true })
    await harness.sync()
    const { firing } = await around(harness, { at: new Date(Date.now() - HOUR_MS / 2) })
    expect(firing.map(one => [one.name, one.known, one.firedForMs, firingInWords(one)])).toEqual([
      ['p99 latency', false, expect.closeTo(HOUR_MS / 2, -5), 'not known: it fired before'],
      ['disk full', false, null, 'not known: first seen firing later'],
    ])
  })

  test('decisions of people are shown with who and why, and imports with their ends', async () => {
    await using harness = await setup()
    await syncInventory(
      harness.ferry,
      {
        account: 'default',
        resource: 'alert-rules',
        trigger: 'manual',
        by: { actor: 'ada@ops', because: 'a look' },
      },
      new AbortController().signal,
    )
    await harness.query(
      `insert into ferry.imports (account, page_id, method, status, file, options, on_uncertain, update_existing, batch_rows, started_at, finished_at)
       values ('default', 1, 'email', 'completed', 'people.csv', '{}', 'hold', false, 50, now() - interval '5 min', clock_timestamp())`,
    )
    const { rows } = await around(harness)
    expect(rows.filter(({ inventory }) => inventory === null).map(lineOf)).toEqual([
      'import.started people.csv',
      'decision sync run by ada@ops',
      'import.ended people.csv',
    ])
    expect(rows.find(({ kind }) => kind === 'decision')).toMatchObject({ after: '{"because": "a look"}' })
  })

  test('who only reads gets the same rows, and an hour before the history starts is refused', async () => {
    await using harness = await setup()
    await using opened = new AsyncDisposableStack()
    expect(await prepareReader(harness.ferry.pool)).toEqual({ status: 'ready' })
    const member = await connectMember(opened, { url: harness.databaseUrl, pool: harness.ferry.pool })
    for (const call of ['ferry.around(now())', 'ferry.firing_at(now())']) {
      const { rows } = await member.query(`select * from ${call}`)
      expect(rows).toEqual(await harness.query(`select * from ${call}`))
    }
    await harness.query(`insert into ferry.history (starts_at) values (now() - interval '30 min')`)
    await expect(around(harness)).rejects.toThrow('The history starts at')
    expect(await linesOf(harness, { spanMs: HOUR_MS / 3 })).toEqual(['inventory.first_read'])
  })
})
