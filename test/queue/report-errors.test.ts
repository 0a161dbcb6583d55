import { EventEmitter } from 'node:events'
import { pino } from 'pino'
import { expect, onTestFinished, test, vi } from 'vitest'
import { reportErrors } from '#src/queue/backend.ts'
import { Outage } from '#src/queue/outage.ts'

test('an error that a queue repeats is a warning once in ten minutes, and another error is one at once', () => {
  let nowMs = 0
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs)
  onTestFinished(() => void vi.restoreAllMocks())
  const lines: string[] = []
  const log = pino(
    { level: 'debug' },
    {
      write: line =>
        void lines.push(`${pino.levels.labels[JSON.parse(line).level]} ${JSON.parse(line).error}`),
    },
  )
  const source = reportErrors(new EventEmitter(), 'sync: fetch', new Outage(log, 'here'), log)
  const errors = ['odd', 'odd', 'other', 'other', 'odd']
  for (const error of errors) source.emit('error', new Error(error))
  expect(lines).toEqual(['warn odd', 'debug odd', 'warn other', 'debug other', 'warn odd'])
  nowMs += 599_999
  source.emit('error', new Error('odd'))
  nowMs += 600_000
  source.emit('error', new Error('odd'))
  expect(lines.slice(errors.length)).toEqual(['debug odd', 'warn odd'])
})
