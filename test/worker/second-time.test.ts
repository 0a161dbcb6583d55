import { pino } from 'pino'
import { expect, test } from 'vitest'
import { withBackOff } from '#src/queue/back-off.ts'
import { Outage } from '#src/queue/outage.ts'
import { Loop } from '#src/worker/loop.ts'
import { waitFor } from '#test/support/wait-for.ts'

/*
 * What is said once, or grows with each failure: when all is well again it begins anew, and the second trouble is told like
 * the first.
 */

function openLines() {
  const lines: { readonly level: string; readonly msg: string }[] = []
  const log = pino(
    { level: 'info', base: null, formatters: { level: label => ({ level: label }) } },
    { write: line => lines.push(JSON.parse(line)) },
  )
  return { log, said: () => lines.map(({ level, msg }) => `${level}: ${msg}`) }
}

test('the second outage of the queue is logged as the first one was', () => {
  const { log, said } = openLines()
  const outage = new Outage(log, 'Redis at cache:6379 (REDIS_URL)')
  for (const _ of [1, 2]) {
    outage.begins('sync: fetch', new Error('gone'))
    outage.begins('sync: fetch', new Error('gone'))
    outage.ends('sync: fetch')
    outage.ends('sync: fetch')
  }
  const once = [
    'warn: The queue does not answer. Nothing is lost; Ferry keeps trying.',
    'info: The queue answers again.',
  ]
  expect(said()).toEqual([...once, ...once])
})

test('the queue answers again once all that failed works, not the first of it', () => {
  const { log, said } = openLines()
  const outage = new Outage(log, 'Redis at cache:6379 (REDIS_URL)')
  outage.begins('sync: fetch', new Error('gone'))
  outage.begins('import: fetch', new Error('gone'))
  outage.ends('sync: fetch')
  expect(said()).toHaveLength(1)
  outage.ends('import: fetch')
  expect(said()).toHaveLength(2)
})

test('work that is repeated says at its second trouble what it said at the first', async () => {
  const { log, said } = openLines()
  const plan = ['fail', 'fail', 'work', 'work', 'fail', 'fail', 'work']
  let turns = 0
  const repeated = new Loop(
    'look',
    1,
    async () => {
      turns += 1
      if (plan[turns - 1] === 'fail') throw new Error('a fault')
      return 0
    },
    log,
  )
  await waitFor(() => turns > plan.length, { what: 'every turn' })
  await repeated.stop()
  const once = ['warn: The look failed and will be tried again.', 'info: The look works again.']
  expect(said()).toEqual([...once, ...once])
})

/** A backend of the queue whose next calls succeed or fail. */
function backendOf(answers: boolean[]) {
  return {
    async moveToActive() {
      if (!answers.shift()) throw new Error('gone')
    },
    waitForJob: async () => false,
    disconnectBlocking: async () => {},
    close: async () => {},
  }
}

test('a call to the queue that succeeds ends the outage that its failure began', async () => {
  const { log } = openLines()
  const outage = new Outage(log, 'here')
  const backend = backendOf([false, true])
  const { moveToActive } = withBackOff((() => backend) as never, outage)('sync', {} as never, {} as never)
  const call = moveToActive as unknown as () => Promise<void>
  await expect(call()).rejects.toThrow('gone')
  expect(outage.lasts('sync: fetch')).toBe(true)
  await call()
  expect(outage.lasts('sync: fetch')).toBe(false)
})

test('a call to the queue that succeeded makes the next pause the shortest again', async () => {
  const { log } = openLines()
  const open = () => {
    const answers: boolean[] = []
    const backend = backendOf(answers)
    const create = withBackOff((() => backend) as never, new Outage(log, 'here'))
    const opened = create('sync', {} as never, {} as never) as unknown as typeof backend
    return { call: () => opened.moveToActive().catch(() => {}), answers }
  }
  const [again, other] = [open(), open()]
  again.answers.push(false, true, false)
  other.answers.push(false, false)
  await Promise.all([again.call(), other.call()])
  await again.call()
  const ended: string[] = []
  // The second pause in a row is twice as long as the first. The longer one begins before the shorter one.
  await Promise.all([
    other.call().then(() => ended.push('second failure in a row')),
    again.call().then(() => ended.push('first failure')),
  ])
  expect(ended).toEqual(['first failure', 'second failure in a row'])
})
