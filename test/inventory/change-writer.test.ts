import { setTimeout as delay, setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { acquireLease } from '#src/db/leases.ts'
import { alertRules } from '#src/inventory/alert-rules.ts'
import { ChangeWriter } from '#src/inventory/publish/change-writer.ts'
import type { Changes } from '#src/inventory/publish/compare.ts'
import { startRun } from '#src/inventory/runs/ledger.ts'
import { leaseNameOf } from '#src/inventory/runs/lost-runs.ts'
import { ALERT_RULE, type AlertRule } from '#src/model/alert-rule.ts'
import { createWorkLimit } from '#src/model/work-limit.ts'
import { rowWriter } from '#src/platform/written-row.ts'
import { type FerryHarness, openFerryHarness } from '#test/support/ferry-harness.ts'
import { NEW_RUN, NOTHING_CHANGED } from '#test/support/runs.ts'
import { ruleOf, rules, scriptedAccount, upTo, withAccounts } from './scripted-account.ts'

const NEVER = new AbortController().signal
const HEAVY = 9 * 1024 * 1024

/** What a part of a reading does, attempt after attempt: the last attempt counts. */
const attempt = fc.array(
  fc.record({
    /** So much that what is held is written into a transaction that stays open. */
    isHeavy: fc.boolean(),
    /** How long is waited for it, if it is still being written when the next attempt begins. */
    underWayFor: fc.option(fc.nat(4)),
  }),
  { maxLength: 3 },
)
const part = fc.array(attempt, { minLength: 1, maxLength: 3 })

test('of each part, exactly what its last attempt wrote is published, whenever it was written', async () => {
  await using harness = await openFerryHarness({ rules: 0, servers: 0 })
  let sequence = 0
  await fc.assert(
    fc.asyncProperty(fc.array(part, { maxLength: 4 }), fc.boolean(), async (parts, isPublished) => {
      const account = `account ${++sequence}`
      const { writer, lease } = await openWriter(harness, account)
      const wanted: number[] = []
      let next = 0
      let underWay: Promise<void> = Promise.resolve()
      for (const attempts of parts) {
        for (const [n, blocks] of attempts.entries()) {
          if (n === 0) {
            await underWay
            await writer.mark()
          } else {
            await underWay
            await writer.rewind()
          }
          for (const { isHeavy, underWayFor } of blocks) {
            next += 1
            if (n === attempts.length - 1) wanted.push(next)
            await underWay
            underWay = writer.write(adding(next, isHeavy ? HEAVY : 0))
            if (underWayFor === null) await underWay
            for (let turn = 0; turn < (underWayFor ?? 0); turn++) await setImmediate()
          }
        }
      }
      await underWay
      const stored = () =>
        harness.query('select id::int as id from ferry.alert_rule_versions where account = $1 order by id', [
          account,
        ])
      expect(await stored()).toEqual([])
      const publish = () =>
        writer.publish(async (_client, _step, opened) => {
          expect(opened.firstRead).toBe(wanted.length)
          expect(opened.values().map(({ value }) => value)).toEqual(wanted.map(one => `source ${one}`))
          return NOTHING_CHANGED
        })
      if (isPublished) await publish()
      await writer.discard()
      expect(await stored()).toEqual(isPublished ? wanted.map(one => ({ id: one })) : [])
      await lease.release()
    }),
    { numRuns: 100, seed: 20261122 },
  )
})

const MANY = [
  ['rows', (from: number, count: number) => added(upTo(count).map(id => from + id))],
  [
    'firings',
    (from: number, count: number) => ({ ...added([]), began: upTo(count).map(id => `${from + id}`) }),
  ],
] as const

test.for(MANY)(
  'up to 100 %s that come within a second are kept in memory, and not written before the end; one more, and all are',
  async ([, block]) => {
    await using harness = await openFerryHarness({ rules: 0, servers: 0 })
    const blocks = [block(0, 60), block(60, 40), added([])]
    const few = await openWriter(harness, 'few')
    await writeAtOnce(few.writer, blocks)
    expect(await isWriting(harness)).toBe(false)
    const many = await openWriter(harness, 'many')
    await writeAtOnce(many.writer, [...blocks, adding(101, 0)])
    expect(await isWriting(harness)).toBe(true)
    for (const { writer, lease } of [few, many]) {
      await writer.discard()
      await lease.release()
    }
    expect(await isWriting(harness)).toBe(false)
  },
)

/** With nothing waited for in between: on a busy machine a single query may take the second. */
async function writeAtOnce(writer: ChangeWriter<AlertRule>, blocks: readonly Changes<AlertRule>[]) {
  await writer.mark()
  for (const block of blocks) await writer.write(block)
}

test('changes that come later are kept up to 4,000: such a listing may last', async () => {
  await using harness = await openFerryHarness({ rules: 0, servers: 0 })
  const { writer, lease } = await openWriter(harness, 'default')
  await writer.mark()
  await delay(1_100)
  await writer.write(added(upTo(251)))
  expect(await isWriting(harness)).toBe(false)
  await writer.discard()
  await lease.release()
})

test.for(MANY)(
  'while others have all connections for long transactions, up to 4,000 %s are kept',
  async ([, block]) => {
    await using harness = await openFerryHarness({ rules: 0, servers: 0 })
    const { writer, lease } = await openWriter(harness, 'default')
    const { limitLongWork } = harness.ferry
    const others = Promise.withResolvers<void>()
    while (limitLongWork.hasRoom()) limitLongWork(() => others.promise)
    await writer.mark()
    await writer.write(block(0, 3_900))
    await writer.write(block(3_900, 100))
    expect(await isWriting(harness)).toBe(false)
    const written = writer.write(adding(4_001, 0)).then(() => 'written')
    expect(await Promise.race([written, delay(200, 'waits')])).toBe('waits')
    others.resolve()
    expect(await written).toBe('written')
    expect(await isWriting(harness)).toBe(true)
    await writer.discard()
    await lease.release()
  },
)

/** Whether a transaction is open: between two statements, or in a COPY that goes on. */
async function isWriting(harness: FerryHarness): Promise<boolean> {
  const open = `select from pg_stat_activity where datname = current_database()
    and (state = 'idle in transaction' or state = 'active' and query ilike 'copy%')`
  return (await harness.query(open)).length > 0
}

test.each([
  ['held', 0],
  ['written', HEAVY],
] as const)('what was %s and then discarded is not published', async (_, bytes) => {
  await using harness = await openFerryHarness({ rules: 0, servers: 0 })
  const { writer, lease } = await openWriter(harness, 'default')
  await writer.mark()
  await writer.write(adding(1, bytes))
  await writer.discard()
  await writer.publish(async () => NOTHING_CHANGED)
  expect(await harness.query('select from ferry.alert_rule_versions')).toEqual([])
  await lease.release()
})

test('a run that waits for the long transactions of others ends as soon as it is stopped', async () => {
  await using opened = await openFerryHarness({ rules: 0, servers: 0 })
  const harness = { ...opened, ferry: { ...opened.ferry, limitLongWork: createWorkLimit(1) } }
  const other = await openWriter(harness, 'other')
  await other.writer.write(adding(1, HEAVY))
  const stop = new AbortController()
  const { writer, lease } = await openWriter(harness, 'default', stop.signal)
  const writing = writer.write(adding(2, HEAVY))
  stop.abort(new Error('stopped'))
  await expect(writing).rejects.toThrow('stopped')
  await Promise.all([writer.discard(), other.writer.discard()])
  await Promise.all([lease.release(), other.lease.release()])
})

/** The writer of a run of its own. */
async function openWriter(harness: FerryHarness, account: string, signal = NEVER) {
  const { pool, log } = harness.ferry
  const inventory = { account, resource: 'alert-rules' } as const
  const lease = await acquireLease(pool, leaseNameOf(inventory), 'test', log)
  if ('heldBy' in lease) throw new Error('the lease is held')
  const id = await startRun(pool, { ...NEW_RUN, ...inventory }, lease)
  const scripted = scriptedAccount(account, () => [])
  const context = withAccounts(harness, scripted)
  const run = { id, account, lease, policy: { kind: 'accepted' } as const, requests: 0, pages: 0 }
  return { writer: new ChangeWriter(context, alertRules(scripted), run, signal), lease }
}

function adding(id: number, bytes: number): Changes<AlertRule> {
  return { ...added([id]), bytes }
}

function added(ids: readonly number[]): Changes<AlertRule> {
  const rows = rules(ids).map(rule => ({ ...ruleOf(rule), ds_type: `source ${rule.id}` }))
  return {
    added: rows.map(row => ({ id: `${row.id}`, row, flags: undefined, altered: [], written: WRITE(row) })),
    changed: [],
    began: [],
    ended: [],
    bytes: 0,
  }
}

const WRITE = rowWriter(ALERT_RULE)
