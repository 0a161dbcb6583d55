import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { alertRuleFlags } from '#src/model/alert-rule.ts'

const flagsOf = alertRuleFlags()
const zone = (timezone: string | null) => flagsOf({ cron_pattern: '* * * * *', timezone })
const cron = (cron_pattern: string) => flagsOf({ cron_pattern, timezone: null })

test('IANA names are zones; abbreviations, offsets and made-up names are not; none at all stands for the default', () => {
  for (const name of ['UTC', 'Europe/Berlin', 'Europe/Kyiv', 'America/Argentina/Ushuaia', 'GMT', null, '']) {
    expect([name, zone(name)]).toEqual([name, undefined])
  }
  for (const name of ['CST', 'Local', 'UTC+8', '+08:00', 'Europe/Atlantis', 'berlin', 'BST']) {
    expect([name, zone(name)]).toEqual([name, ['timezone is not an IANA name']])
    // What was looked up before is remembered, not turned round.
    expect(zone(name)).toEqual(['timezone is not an IANA name'])
  }
})

test('a cron pattern has five fields and names no zone', () => {
  for (const pattern of ['* * * * *', ' 0 3 * * 1-5 ', '*/5\t* * * *']) expect(cron(pattern)).toBeUndefined()
  for (const pattern of ['* * * *', '0 * * * * *', '@every 30s', '']) {
    expect(cron(pattern)).toEqual(['cron_pattern does not have 5 fields'])
  }
  for (const pattern of ['CRON_TZ=UTC 0 * * * *', 'TZ=UTC 0 * * * *']) {
    expect(cron(pattern)).toEqual(['cron_pattern names a time zone'])
  }
})

test('both may be wrong at once', () => {
  expect(flagsOf({ cron_pattern: '@daily', timezone: 'CST' })).toHaveLength(2)
})

test.each([
  ['long', 3_000, 10_000],
  ['short, however many', 70_000, 90],
])('no memory is kept for schedules and zones that are %s', (_, texts, length) => {
  const flagsOfMany = alertRuleFlags()
  const filling = 'x'.repeat(length)
  flagsOfMany({ cron_pattern: filling, timezone: filling })
  const before = heapUsed()
  for (let n = 0; n < texts; n++)
    flagsOfMany({ cron_pattern: `${filling} ${n}`, timezone: `${filling} ${n}` })
  expect(heapUsed() - before).toBeLessThan(10_000_000)
  expect(flagsOfMany({ cron_pattern: '* * * * *', timezone: 'UTC' })).toBeUndefined()
})

/** In bytes, without garbage. */
function heapUsed(): number {
  setFlagsFromString('--expose-gc')
  const collect: (options: object) => void = runInNewContext('gc')
  setFlagsFromString('--no-expose-gc')
  collect({ type: 'major', execution: 'sync' })
  return process.memoryUsage().heapUsed
}
