import { setTimeout as delay } from 'node:timers/promises'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { Loop } from '#src/worker/loop.ts'
import { waitFor } from '#test/support/wait-for.ts'

const SILENT = pino({ level: 'silent' })

test('work is repeated after its time at the latest, and sooner if it says so, but never twice at once', async () => {
  let calls = 0
  let atOnce = 0
  const work = async (waitMs: number) => {
    expect(++atOnce).toBe(1)
    calls += 1
    await delay(5)
    atOnce -= 1
    return waitMs
  }
  for (const [everyMs, waitMs] of [
    [10, 600_000],
    [600_000, 10],
  ] as const) {
    calls = 0
    const loop = new Loop('work', everyMs, () => work(waitMs), SILENT)
    await waitFor(() => calls >= 4, { what: 'four calls' })
    await loop.stop()
  }
})

test('stopping waits for what is under way, and nothing runs after it', async () => {
  const gate = Promise.withResolvers<number>()
  let calls = 0
  const loop = new Loop('work', 1, () => (++calls === 1 ? gate.promise : Promise.resolve(1)), SILENT)
  let isStopped = false
  const stopping = loop.stop().then(() => {
    isStopped = true
  })
  await delay(20)
  expect(isStopped).toBe(false)
  gate.resolve(1)
  await stopping
  await delay(20)
  expect(calls).toBe(1)
})

test('a failure is logged once, and that it works again; one that passes only for those who look closely', async () => {
  const lines: string[] = []
  const log = pino(
    { level: 'debug' },
    {
      write(line) {
        const { level, msg } = JSON.parse(line)
        lines.push(`${pino.levels.labels[level]} ${msg}`)
      },
    },
  )
  const failure = (code: string) => Object.assign(new Error('no'), { code })
  const ends = [failure('ECONNREFUSED'), null, failure('X'), failure('X'), null, null, failure('X')]
  let calls = 0
  const loop = new Loop(
    'watch',
    1,
    async () => {
      const end = ends[calls]
      calls += 1
      if (end) throw end
      return 1
    },
    log,
  )
  await waitFor(() => calls > ends.length, { what: 'all calls' })
  await loop.stop()
  const failed = 'The watch failed and will be tried again.'
  const again = 'info The watch works again.'
  expect(lines).toEqual([
    `debug ${failed}`,
    `warn ${failed}`,
    `debug ${failed}`,
    again,
    `warn ${failed}`,
    again,
  ])
})
