import { pino } from 'pino'
import { expect, test } from 'vitest'
import type { RunResult } from '#src/model/run.ts'
import { Outage } from '#src/queue/outage.ts'
import { createRunReport } from '#src/worker/run-log.ts'

const SUCCEEDED: RunResult = {
  run: 7n,
  account: 'default',
  resource: 'alert-rules',
  status: 'succeeded',
  seen: 3,
  added: 0,
  changed: 0,
  removed: 0,
  unchanged: 3,
  quarantined: 0,
  requests: 1,
  durationMs: 5,
  errorCode: null,
  requestId: null,
  message: null,
}
const REFUSED: RunResult = {
  ...SUCCEEDED,
  status: 'failed',
  errorCode: 'Unauthorized',
  requestId: 'r-1',
  message: 'The key is wrong. Check the app_key.',
}

function setup() {
  const lines: { level: string; msg: string; [key: string]: unknown }[] = []
  const log = pino(
    { level: 'info', base: null, formatters: { level: label => ({ level: label }) } },
    { write: line => lines.push(JSON.parse(line)) },
  )
  const clock = { ms: 0 }
  return { lines, log, clock, report: createRunReport(log, () => clock.ms) }
}

test.for([
  ['nothing, if nothing changed', SUCCEEDED, undefined],
  ['a line, if something changed', { ...SUCCEEDED, changed: 1 }, 'info'],
  ['nothing of a run that was skipped', { ...SUCCEEDED, status: 'skipped', message: 'busy' }, undefined],
  ['a warning, if it is partial', { ...SUCCEEDED, status: 'partial', message: 'incomplete' }, 'warn'],
  ['a warning, if removals are held', { ...SUCCEEDED, status: 'held', message: 'held' }, 'warn'],
  ['an error, if it failed', REFUSED, 'error'],
  ['no error, if it was interrupted', { ...REFUSED, errorCode: 'Interrupted' }, 'info'],
] as const)('a run leaves %s', ([, run, level]) => {
  const { lines, report } = setup()
  report(run)
  expect(lines.map(line => line.level)).toEqual(level === undefined ? [] : [level])
})

/** What every line has of a run, in the order of the counts. */
const OF_RUN = {
  run: '7',
  account: 'default',
  resource: 'alert-rules',
  seen: 5,
  added: 1,
  changed: 2,
  removed: 3,
}
const COUNTED = { ...SUCCEEDED, seen: 5, added: 1, changed: 2, removed: 3 }

test.for([
  ['succeeded', COUNTED, { level: 'info', status: 'succeeded', msg: 'A sync succeeded.' }],
  [
    'succeeded, but for rows that could not be read',
    { ...COUNTED, quarantined: 4, requestId: 'r-2', message: 'Unknown fields.' },
    {
      level: 'info',
      status: 'succeeded',
      quarantined: 4,
      requestId: 'r-2',
      msg: 'A sync succeeded. Unknown fields.',
    },
  ],
  [
    'is partial',
    { ...COUNTED, status: 'partial', errorCode: 'ListingIncomplete', message: 'Rows are missing.' },
    {
      level: 'warn',
      status: 'partial',
      errorCode: 'ListingIncomplete',
      msg: 'A sync is partial; nothing was removed. Rows are missing.',
    },
  ],
  [
    'holds removals',
    { ...COUNTED, status: 'held' },
    { level: 'warn', status: 'held', msg: 'Removals wait for a decision: `ferry runs show 7`.' },
  ],
  [
    'failed',
    { ...COUNTED, status: 'failed', errorCode: 'AccessDenied', requestId: 'r-3', message: 'It may not.' },
    {
      level: 'error',
      status: 'failed',
      errorCode: 'AccessDenied',
      requestId: 'r-3',
      msg: 'A sync failed; nothing was applied. It may not.',
    },
  ],
] as const)('the line of a run that %s is whole', ([, run, line]) => {
  const { lines, report } = setup()
  report(run)
  expect(lines).toEqual([{ ...OF_RUN, ...line, time: expect.any(Number) }])
})

test('a run that was cut off is not said to have failed', () => {
  const { lines, report } = setup()
  report({ ...REFUSED, errorCode: 'Interrupted' })
  expect(lines).toMatchObject([{ msg: expect.stringMatching(/^A sync was cut off; nothing was applied\./) }])
})

test('the line of a failure has what to do and the request_id, that of a held run the command that shows it', () => {
  const { lines, report } = setup()
  report(REFUSED)
  report({ ...SUCCEEDED, status: 'held', message: 'Twelve rows are gone.' })
  expect(lines).toMatchObject([
    {
      run: '7',
      account: 'default',
      errorCode: 'Unauthorized',
      requestId: 'r-1',
      msg: expect.stringContaining('Check the app_key.'),
    },
    { msg: expect.stringContaining('`ferry runs show 7`') },
  ])
})

test('the same failure is logged once a minute with a count, another one at once', () => {
  const { lines, clock, report } = setup()
  for (let poll = 0; poll < 12; poll++) {
    clock.ms = poll * 10_000
    report(REFUSED)
  }
  expect(lines.map(line => line.timesSince)).toEqual([undefined, 6])
  report({ ...REFUSED, errorCode: 'AccessDenied', message: 'The role may not.' })
  report({ ...REFUSED, account: 'other' })
  expect(lines).toHaveLength(4)
})

test('a removal that stays held is logged once a minute, though each message names its run', () => {
  const { lines, clock, report } = setup()
  const held = (run: bigint, gone: number): RunResult => ({
    ...SUCCEEDED,
    run,
    status: 'held',
    message: `${gone} of 40 rows are gone. See \`ferry runs show ${run}\`, then \`ferry runs approve ${run}\` or \`ferry runs reject ${run}\`.`,
  })
  for (let poll = 0; poll < 12; poll++) {
    clock.ms = poll * 10_000
    report(held(95n + BigInt(poll), 30))
  }
  expect(lines.map(line => line.timesSince)).toEqual([undefined, 6])
  report(held(107n, 31))
  expect(lines).toHaveLength(3)
})

test('the first success after a failure is logged, and the same failure again after it', () => {
  const { lines, report } = setup()
  report(REFUSED)
  report({ ...SUCCEEDED, status: 'skipped' })
  report(SUCCEEDED)
  report(SUCCEEDED)
  report(REFUSED)
  expect(lines.map(line => line.level)).toEqual(['error', 'info', 'error'])
})

test('that the queue does not answer is logged once, and once that it answers again', () => {
  const { lines, log } = setup()
  const outage = new Outage(log, 'Redis at cache:6379 (REDIS_URL)')
  for (let again = 0; again < 3; again++) {
    outage.begins('sync: fetch', new Error('gone'))
    outage.begins('import: add', new Error('gone'))
  }
  outage.ends('sync: fetch')
  outage.ends('sync: fetch')
  expect(outage.lasts('import: add')).toBe(true)
  outage.ends('import: add')
  expect(lines[0]).toMatchObject({ where: 'Redis at cache:6379 (REDIS_URL)', error: 'gone' })
  expect(lines.map(line => line.msg)).toEqual([
    'The queue does not answer. Nothing is lost; Ferry keeps trying.',
    'The queue answers again.',
  ])
})

test('the same failure of another inventory, or of another account, is logged for itself', () => {
  const { lines, report } = setup()
  report(REFUSED)
  report({ ...REFUSED, resource: 'mcp-servers' })
  report({ ...REFUSED, account: 'other' })
  report(REFUSED)
  expect(lines.map(({ account, resource }) => `${account} ${resource}`)).toEqual([
    'default alert-rules',
    'default mcp-servers',
    'other alert-rules',
  ])
})
