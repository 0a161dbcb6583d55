import { pino } from 'pino'
import { expect, test } from 'vitest'
import { Outage } from '#src/queue/outage.ts'

test('calls that fail while the queue is being closed are no outage', () => {
  const lines: string[] = []
  const log = pino({ level: 'info' }, { write: line => lines.push(JSON.parse(line).msg) })
  const outage = new Outage(log, 'Postgres')
  outage.closes()
  outage.begins('sync: add', new Error('connect ECONNREFUSED'))
  expect(outage.lasts('sync: add')).toBe(false)
  outage.ends('sync: add')
  expect(lines).toEqual([])
})
