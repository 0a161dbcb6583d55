import { expect, test } from 'vitest'
import type { JobOutcome } from '#jobs/job.ts'
import type { RunResult } from '#src/model/run.ts'
import { addManualSlots, pauseSchedules } from '#src/schedules/control.ts'
import { schedulesOf } from '#src/schedules/definition.ts'
import { DueFinder } from '#src/schedules/find-due.ts'
import { createCapacity } from '#src/worker/capacity.ts'
import { processSchedule } from '#src/worker/process-schedule.ts'
import { ADA } from '#test/support/acted-by.ts'
import { listSlots } from '#test/support/slots.ts'
import { openTestStore } from '#test/support/store.ts'
import { contextOf, ONCE, testJob } from './queue-harness.ts'

const NEVER = new AbortController().signal
const SUCCEEDED = async (): Promise<JobOutcome> => ({ status: 'succeeded' })

/** What a worker with room for one job of each account does when it is woken for one of them. */
async function setup({
  accounts = ['default'],
  run = SUCCEEDED,
}: {
  accounts?: readonly string[]
  run?: (cutOff: AbortSignal) => Promise<JobOutcome>
} = {}) {
  const store = await openTestStore()
  const context = contextOf({ accounts }, store.pool)
  const job = testJob({ timing: ONCE, run: (_, __, cutOff) => run(cutOff) })
  const told: RunResult[] = []
  const processor = {
    context,
    jobs: [job.job],
    schedules: schedulesOf([job.schedule], accounts),
    dueFinder: new DueFinder({ ...context, installedAt: new Date(0) }),
    capacity: createCapacity(1),
    onEnd: (_: unknown, { runs = [] }: JobOutcome) => void told.push(...runs),
  }
  return Object.assign(store, {
    processor,
    told,
    calls: job.calls,
    key: { schedule: job.name, account: 'default' },
    process: (account = 'default') =>
      processSchedule(processor, { job: job.name, account }, { signal: NEVER, cutOff: NEVER }),
  })
}

test('of a schedule that two accounts have, that of the account is done that was named', async () => {
  await using worker = await setup({ accounts: ['one', 'two'] })
  await worker.process('two')
  expect(worker.calls).toMatchObject([{ account: 'two' }])
  expect(await listSlots(worker.pool)).toMatchObject([{ account: 'two', outcome: 'succeeded' }])
})

test('a job that made two runs tells of both', async () => {
  const runs = [{ resource: 'alert-rules' }, { resource: 'mcp-servers' }] as RunResult[]
  await using worker = await setup({ run: async () => ({ status: 'partial', runs }) })
  await worker.process()
  expect(worker.told).toEqual(runs)
})

test('a schedule that is paused after it was found due is not done', async () => {
  await using worker = await setup()
  const { dueFinder } = worker.processor
  const find: DueFinder['find'] = async schedules => {
    const found = await dueFinder.find(schedules)
    expect(found.due).toHaveLength(1)
    await pauseSchedules(worker.pool, [worker.key], ADA)
    return found
  }
  Object.assign(worker.processor, { dueFinder: { find } })
  expect(await worker.process()).toBe('done')
  expect(worker.calls).toEqual([])
  expect(await listSlots(worker.pool)).toEqual([])
})

test('what a person asked for is done although the schedule is paused, and is of no slot of it', async () => {
  await using worker = await setup()
  await pauseSchedules(worker.pool, [worker.key], ADA)
  await addManualSlots(worker.pool, [worker.key], ADA)
  await worker.process()
  expect(worker.calls).toEqual([{ account: 'default', trigger: 'manual' }])
})

test('work is cut off once another worker has its slot, which it leaves as it is', async () => {
  await using worker = await setup({
    async run(cutOff) {
      await worker.pool.query(`update ferry.leases set token = gen_random_uuid(), holder = 'another'`)
      await new Promise(resolve => cutOff.addEventListener('abort', resolve))
      return { status: 'failed' }
    },
  })
  expect(await worker.process()).toBe('given back')
  expect(await listSlots(worker.pool)).toMatchObject([{ attempts: 1, outcome: null }])
})

test.for<[string, () => Promise<JobOutcome>]>([
  ['succeeded', SUCCEEDED],
  ['failed', () => Promise.reject(new Error('a fault'))],
])('the account has room again after work that %s, and after nothing was due', async ([, run]) => {
  await using worker = await setup({ run })
  for (const _ of ['due', 'not due']) {
    await worker.process()
    const free = worker.processor.capacity.take('default')
    expect(free).not.toBeNull()
    free?.()
  }
})
