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

test('an outage is logged once, until each call that failed has worked again; missing functions are explained', () => {
  const lines: string[] = []
  const write = (line: string) => {
    const { level, msg, error } = JSON.parse(line)
    lines.push(`${level} ${msg} ${error ?? ''}`.trim())
  }
  const outage = new Outage(pino({ level: 'debug' }, { write }), 'Postgres')
  const missing = Object.assign(new Error('function get_job() does not exist'), { code: '42883' })
  outage.begins('sync: add', missing)
  outage.begins('sync: add', new Error('connect ECONNREFUSED'))
  outage.begins('import: add', new Error('connect ECONNREFUSED'))
  outage.ends('sync: add')
  expect(outage.lasts('import: add')).toBe(true)
  outage.ends('import: add')
  outage.ends('import: add')
  expect(lines).toEqual([
    expect.stringMatching(
      /^40 The queue does not answer.*function get_job\(\) does not exist: the queue has no tables yet \(`ferry migrate` makes them\), or/,
    ),
    '20 The queue still does not answer. connect ECONNREFUSED',
    '20 The queue still does not answer. connect ECONNREFUSED',
    '30 The queue answers again.',
  ])
})
