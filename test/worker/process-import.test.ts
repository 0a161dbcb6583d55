import { pino } from 'pino'
import { expect, test } from 'vitest'
import type { JobOutcome } from '#jobs/job.ts'
import { cancelImport } from '#src/imports/control/decide.ts'
import { createCapacity } from '#src/worker/capacity.ts'
import { processImport } from '#src/worker/process-import.ts'
import { ADA } from '#test/support/acted-by.ts'
import { NEVER, OTHER_PAGE, openImportHarness } from '../imports/import-harness.ts'

const NAME = 'import-subscribers'

/** What a worker with room for one import of each account does when it is woken for one; its queue holds `enqueued` wake-ups. */
async function setup() {
  const harness = await openImportHarness()
  const state = {
    enqueued: 0,
    added: [] as string[],
    /** Whether the account had room when something was enqueued. */
    hadRoom: [] as boolean[],
    ran: [] as string[],
    logged: [] as string[],
    outcome: async (): Promise<JobOutcome> => ({ status: 'yielded' }),
  }
  const log = pino({ level: 'info' }, { write: line => void state.logged.push(JSON.parse(line).msg) })
  const capacity = createCapacity(1)
  const processor = {
    context: { ...harness.ferry, log },
    jobs: [
      {
        name: NAME,
        run(_: unknown, payload: unknown) {
          state.ran.push((payload as { import: string }).import)
          return state.outcome()
        },
      },
    ],
    queue: {
      async add(_: string, wakeUp: { import: string }) {
        state.added.push(wakeUp.import)
        const free = capacity.take('default')
        state.hadRoom.push(free !== null)
        free?.()
        return true
      },
      getWaitingCount: async () => state.enqueued,
    },
    capacity,
  }
  return Object.assign(harness, {
    state,
    capacity,
    process: (id: bigint) =>
      processImport(processor, NAME, { import: `${id}` }, { signal: NEVER, cutOff: NEVER }),
  })
}

test('after a turn each import that waits is enqueued, unless as many wake-ups are there; after none, nothing is', async () => {
  await using worker = await setup()
  const first = await worker.stage({ rows: 3 })
  const second = await worker.stage({ rows: 3, pageId: OTHER_PAGE })
  worker.state.enqueued = 2
  await worker.process(first)
  expect(worker.state.added).toEqual([])
  worker.state.enqueued = 1
  await worker.process(first)
  expect(worker.state.added.toSorted()).toEqual([`${first}`, `${second}`].toSorted())
  worker.state.added = []
  worker.state.outcome = async () => ({ status: 'skipped' })
  await worker.process(first)
  expect(worker.state.added).toEqual([])
})

test('there is room for the imports that are enqueued after a turn', async () => {
  await using worker = await setup()
  const first = await worker.stage({ rows: 3 })
  await worker.stage({ rows: 3, pageId: OTHER_PAGE })
  await worker.process(first)
  expect(worker.state.hadRoom).toEqual([true, true])
})

test('an account that has its imports under way keeps that of no other account waiting', async () => {
  await using worker = await setup()
  const mine = await worker.stage({ rows: 1 })
  const other = await worker.stage({ rows: 1, account: 'other' })
  worker.capacity.take('default')
  await worker.process(mine)
  await worker.process(other)
  expect(worker.state.ran).toEqual([`${other}`])
})

test.for<[string, () => Promise<JobOutcome>]>([
  ['yielded', async () => ({ status: 'yielded' })],
  ['skipped', async () => ({ status: 'skipped' })],
  ['stopped', async () => ({ status: 'stopped' })],
  ['failed', () => Promise.reject(new Error('a fault'))],
])('the account has room again after an import that %s', async ([how, outcome]) => {
  await using worker = await setup()
  worker.state.outcome = outcome
  expect(await worker.process(await worker.stage({ rows: 1 }))).toBe(
    how === 'stopped' ? 'given back' : 'done',
  )
  expect(worker.capacity.take('default')).not.toBeNull()
})

test('the end of an import is logged once', async () => {
  await using worker = await setup()
  const id = await worker.stage({ rows: 1 })
  worker.state.outcome = async () => {
    if (worker.state.ran.length === 1) await cancelImport(worker.ferry.pool, id, ADA)
    return { status: 'succeeded' }
  }
  await worker.process(id)
  await worker.process(id)
  expect(worker.state.logged).toEqual(['An import was cancelled.'])
})
