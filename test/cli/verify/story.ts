import { pauseImport } from '#src/imports/control/decide.ts'
import { resolveUncertain } from '#src/imports/control/resolve.ts'
import { takeSnapshot } from '#src/inventory/history/snapshots.ts'
import { approveRun, rejectRun } from '#src/inventory/holds/approve.ts'
import { addManualSlots, pauseSchedules } from '#src/schedules/control.ts'
import { rules, scriptedAccount, syncListed, upTo, withAccounts } from '#test/inventory/scripted-account.ts'
import { ADA } from '#test/support/acted-by.ts'
import type { FerryHarness } from '#test/support/ferry-harness.ts'
import { ACCEPTED, BAD_ROWS, LOST, naming, sendBatches } from '#test/support/scripted-worker.ts'
import { stageRows } from '#test/support/staged.ts'

const NEVER = new AbortController().signal
const POLL = { schedule: 'poll-alert-rules', account: 'default' }

/** A bit of everything that Ferry stores: each kind of decision, of hold, and of import. */
export async function tellStory(harness: FerryHarness): Promise<void> {
  await syncSome(harness)
  await importSome(harness)
  await pauseSchedules(harness.ferry.pool, [POLL], ADA)
  await addManualSlots(harness.ferry.pool, [POLL], ADA)
}

async function syncSome(harness: FerryHarness): Promise<void> {
  const everything = rules(upTo(40))
  const but = (gone: number) => everything.slice(gone)
  const firing = rules(upTo(3), { firing: true })
  const request = { by: ADA }
  for (const listing of [everything, [...firing, ...but(3)], but(2), everything]) {
    await syncListed(harness, [listing], request)
  }
  const renamed = [...rules([5], { name: 'another', firing: true }), ...but(5), ...rules(upTo(4))]
  await syncListed(harness, [renamed], request)
  await syncListed(
    harness,
    [[...rules([6], { broken: 'with its id' }), ...everything.filter(({ id }) => id !== 6n)]],
    request,
  )
  const rejected = await syncListed(harness, [but(20)], request)
  await rejectRun(harness.ferry, rejected.run, ADA)
  await syncListed(harness, [everything], request)
  const held = await syncListed(harness, [but(20)], request)
  const context = withAccounts(
    harness,
    scriptedAccount('default', () => but(20), 'key', ['a', 'b']),
  )
  await approveRun(context, held.run, ADA, NEVER)
  await takeSnapshot(context, { account: 'default', trigger: 'manual', by: ADA }, NEVER)
  const fewer = withAccounts(
    harness,
    scriptedAccount('default', () => but(20), 'key', ['a']),
  )
  await takeSnapshot(fewer, { account: 'default', trigger: 'manual', by: ADA }, NEVER)
  await syncListed(harness, [[]], request)
}

async function importSome({ ferry: { pool } }: FerryHarness): Promise<void> {
  let pageId = 6_000_000_000_100n
  const stage = (more: Parameters<typeof stageRows>[1]) =>
    stageRows(pool, { pageId: pageId++, batchRows: 4, ...more })
  for (const status of ['staging', 'completed', 'paused', 'undecided', 'cancelled'] as const)
    await stage({ status })
  const rejects = await stage({ rows: 12 })
  await sendBatches(pool, rejects, [ACCEPTED, naming('p7@example.com'), ACCEPTED, BAD_ROWS])
  const uncertain = await stage({ onUncertain: 'hold' })
  await sendBatches(pool, uncertain, [ACCEPTED, LOST, LOST])
  await resolveUncertain(pool, uncertain, 'sent', ADA)
  const halfway = await stage({ rows: 20 })
  await sendBatches(pool, halfway, [ACCEPTED, ACCEPTED])
  await pauseImport(pool, halfway, ADA)
}
