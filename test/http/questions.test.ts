import { pino } from 'pino'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createQuestions } from '#src/http/questions.ts'

const NEVER = new AbortController().signal

/** A question to the queue, how often it was asked, and what is logged. Time is what the test says. */
function setup(answer: () => Promise<Record<string, number>>) {
  const state = { nowMs: 1_000, asked: 0 }
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => state.nowMs)
  onTestFinished(() => void clock.mockRestore())
  const lines: Record<string, unknown>[] = []
  const log = pino({ level: 'debug' }, { write: line => lines.push(JSON.parse(line)) })
  const countWaiting = () => {
    state.asked += 1
    return answer()
  }
  return { ...createQuestions({ countWaiting } as never, log), state, lines }
}

test('an answer to a probe is kept for a second, and no longer', async () => {
  const { waiting, state } = setup(async () => ({ sync: state.asked }))
  expect(await waiting(NEVER)).toEqual({ sync: 1 })
  state.nowMs += 999
  expect(await waiting(NEVER)).toEqual({ sync: 1 })
  state.nowMs += 1
  expect(await waiting(NEVER)).toEqual({ sync: 2 })
})

test('all who ask at the same time wait for one answer', async () => {
  const { promise, resolve } = Promise.withResolvers<Record<string, number>>()
  const { waiting, state } = setup(() => promise)
  const answers = [1, 2, 3].map(() => waiting(NEVER))
  resolve({ sync: 7 })
  expect(await Promise.all(answers)).toEqual([{ sync: 7 }, { sync: 7 }, { sync: 7 }])
  expect(state.asked).toBe(1)
})

test('a question that failed has no answer, is logged for whoever looks closely, and is asked again at once', async () => {
  const { waiting, state, lines } = setup(async () => {
    if (state.asked === 1) throw new Error('the queue is gone')
    return { sync: 0 }
  })
  expect(await waiting(NEVER)).toBeNull()
  expect(lines).toMatchObject([
    { level: 20, msg: 'A question of an HTTP request failed.', error: 'the queue is gone' },
  ])
  expect(await waiting(NEVER)).toEqual({ sync: 0 })
})

test('whoever stops gets no answer at once; a question that is under way is not asked again', async () => {
  const { promise, resolve } = Promise.withResolvers<Record<string, number>>()
  const { waiting, state } = setup(() => promise)
  expect(await waiting(AbortSignal.abort())).toBeNull()
  const later = waiting(NEVER)
  resolve({ sync: 3 })
  expect(await later).toEqual({ sync: 3 })
  expect(state.asked).toBe(1)
})
