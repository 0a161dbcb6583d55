import { expect, test } from 'vitest'
import { readClock } from '#src/db/clock.ts'
import { alertRules } from '#src/inventory/alert-rules.ts'
import { ChangeWriter } from '#src/inventory/publish/change-writer.ts'
import type { Changes } from '#src/inventory/publish/compare.ts'
import type { OpenRun } from '#src/inventory/runs/ledger.ts'
import { startRun } from '#src/inventory/runs/ledger.ts'
import { leaseNameOf } from '#src/inventory/runs/lost-runs.ts'
import type { AlertRule } from '#src/model/alert-rule.ts'
import { openFerryHarness } from '#test/support/ferry-harness.ts'
import { holdLease } from '#test/support/leases.ts'
import { NEW_RUN, NOTHING_CHANGED } from '#test/support/runs.ts'
import { scriptedAccount, upTo } from './scripted-account.ts'

const NEVER = new AbortController().signal

test('changes that were being written when their attempt was cut off are not published', async () => {
  await using harness = await setup()
  const { writer } = harness
  await writer.mark()
  await writer.write(TOO_MANY_TO_HOLD)
  await writer.mark()
  await writer.write(firing([5_001]))
  await writer.rewind()
  await writer.write(firing([5_002]))
  await writer.publish(async () => NOTHING_CHANGED)
  expect(await harness.query('select id::int from ferry.alert_rule_firings where id > 4001')).toEqual([
    { id: 5_002 },
  ])
})

test('what only the second attempt saw has begun after the first, however much that one had written', async () => {
  await using harness = await setup()
  const { writer, ferry } = harness
  await writer.mark()
  await writer.write(TOO_MANY_TO_HOLD)
  await writer.rewind()
  const { now } = await readClock(ferry.pool)
  await writer.write(firing([5_002]))
  await writer.publish(async () => NOTHING_CHANGED)
  const began = 'select id::int, began > $1 as "isLater" from ferry.alert_rule_firings'
  expect(await harness.query(began, [now])).toEqual([{ id: 5_002, isLater: true }])
})

const TOO_MANY_TO_HOLD = firing(upTo(4_001))

function firing(ids: readonly number[]): Changes<AlertRule> {
  return { added: [], changed: [], began: ids.map(String), ended: [], bytes: 0 }
}

/** Ferry with the writer of a run. */
async function setup() {
  const harness = await openFerryHarness({ rules: 0, servers: 0 })
  const { pool } = harness.ferry
  const held = await holdLease(pool, leaseNameOf(NEW_RUN))
  const lease: OpenRun['lease'] = { ...held, signal: NEVER, release: async () => {}, wasEnded() {} }
  const id = await startRun(pool, NEW_RUN, lease)
  const run: OpenRun = { id, account: 'default', lease, policy: { kind: 'accepted' }, requests: 1, pages: 1 }
  const source = alertRules(scriptedAccount('default', () => []))
  return Object.assign(harness, { writer: new ChangeWriter(harness.ferry, source, run, NEVER) })
}
