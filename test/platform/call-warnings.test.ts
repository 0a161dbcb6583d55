import { pino } from 'pino'
import { afterEach, expect, test, vi } from 'vitest'
import { CallWarnings } from '#src/platform/call-warnings.ts'

afterEach(() => {
  vi.useRealTimers()
})

function open() {
  const lines: Record<string, unknown>[] = []
  const log = pino({ base: null, timestamp: false }, { write: line => lines.push(JSON.parse(line)) })
  return { warnings: new CallWarnings(log, 'eu', 2_000), lines }
}

test('of permits that expire before a request is sent, every tenth in a row is reported', () => {
  const { warnings, lines } = open()
  for (let n = 0; n < 9; n += 1) warnings.permitExpired('list-alert-rules')
  warnings.requestSent()
  for (let n = 0; n < 9; n += 1) warnings.permitExpired('list-alert-rules')
  expect(lines).toEqual([])
  for (let n = 9; n < 29; n += 1) warnings.permitExpired('list-alert-rules')
  expect(lines).toEqual(
    [10, 20].map(expiredInARow => ({
      level: 40,
      account: 'eu',
      operation: 'list-alert-rules',
      expiredInARow,
      msg:
        `${expiredInARow} permits in a row expired before a request could be sent with them, so nothing is sent. ` +
        'A permit is good for 2000 ms, 20 % of FERRY_ARRIVAL_BOUND. ' +
        'Give this machine and the database less to do, or raise FERRY_ARRIVAL_BOUND.',
    })),
  )
})

test('that a listing waits for the limit is reported once a minute', () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  const { warnings, lines } = open()
  warnings.tooFrequent('list-mcp-servers', 'Too often.')
  vi.advanceTimersByTime(59_999)
  warnings.tooFrequent('list-mcp-servers', 'Too often.')
  expect(lines).toEqual([
    {
      level: 40,
      account: 'eu',
      operation: 'list-mcp-servers',
      msg: 'Too often. Waiting until the limit lets calls through again.',
    },
  ])
  vi.advanceTimersByTime(1)
  warnings.tooFrequent('list-mcp-servers', 'Too often.')
  expect(lines).toHaveLength(2)
})
