import { expect, test } from 'vitest'
import { openTestStore } from '#test/support/store.ts'
import { DAY, insert } from './ask.ts'
import { expected, MINUTE_MS } from './cron-expected.ts'

/** Weeks in which clocks are changed, by zone: forward and back, over several years, at midnight, and on both halves of the earth. */
const CHANGES = [
  ['Europe/Berlin', ['2026-03-29', '2028-10-29']],
  ['America/New_York', ['2026-03-08', '2029-11-04']],
  ['Australia/Sydney', ['2026-04-05', '2026-10-04']],
  ['Pacific/Auckland', ['2026-04-05', '2026-09-27']],
  ['America/Santiago', ['2026-04-05', '2026-09-06']],
  ['Asia/Beirut', ['2026-03-29', '2026-10-25']],
  ['Africa/Casablanca', ['2026-02-15', '2026-03-22']],
  ['America/St_Johns', ['2026-03-08', '2026-11-01']],
  ['Asia/Kolkata', ['2026-03-29']],
  ['', ['2026-03-29']],
] as const

/** Seconds after which a rule is evaluated: those of a week and more reach past the change of the clocks. */
const DELAYS = [0, 59, 90, 3_660, 86_399, 8 * 86_400 + 7_200, -30]

const OF_LAW = [
  ['* * * * *', '7 * * * *', '*/20 * * * 0', '*/7 * * 3,10,11 *', '0 * 29 * *', '30 * * * */2'],
  [
    '30 2 * * *',
    '0 3 * * *',
    '15 1 * * *',
    '30 0 * * 0',
    '0,30 1,2,3 * * *',
    '45 1-3 * * 6,0',
    '10 0-4 * * *',
    '*/15 */2 * * *',
  ],
  [
    '0 0 */2 * 1',
    '0 12 1-31 * 1',
    '0 6 * * */2',
    '0 7 ? * 5',
    '0 8 10 * ?',
    '0 9 5 * 0-6',
    '0 10 */10 * */3',
    '0 23 25,29 * 6',
  ],
] as const

test.each(CHANGES)(
  'in %s, cron_load is as cron-parser has it in weeks with a change of the clocks, each rule after its delay',
  async (zone, days) => {
    await using store = await openTestStore()
    const rules = OF_LAW.flat().map((cron, n) => ({ cron, delay: DELAYS[n % DELAYS.length] ?? 0 }))
    for (const { delay, cron } of rules) {
      for (const seconds of [0, delay]) {
        const account = `${cron} ${seconds}`
        if (seconds !== 0 || delay !== 0)
          await insert(store, { account, name: cron, cron, timezone: zone, delay: seconds, from: DAY })
      }
    }
    const all = rules.flatMap(({ cron, delay }) =>
      (delay === 0 ? [] : [0, delay]).map(d => ({ cron, delay: d })),
    )
    for (const day of days) {
      // The day before and the day itself: the rest of a week is as any other.
      const begins = new Date(Date.parse(`${day}T00:00:00Z`) - DAY * MINUTE_MS)
      const lastsMs = 2 * DAY * MINUTE_MS
      const { rows } = await store.pool.query<{ account: string; minutes: number[] }>(
        `select account, array_agg((extract(epoch from minute) * 1000)::float8 order by minute) as minutes
       from ferry.cron_load($1, null) where evaluations > 0 and minute >= $2 and minute < $3 group by account`,
        [`${day}T12:00:00Z`, begins, new Date(begins.getTime() + lastsMs)],
      )
      for (const { cron, delay } of all) {
        const minutes = rows.find(({ account }) => account === `${cron} ${delay}`)?.minutes ?? []
        expect(minutes, `${cron} in ${zone} after ${delay} s, ${day}`).toEqual(
          evaluated(begins, cron, zone, { delay, lastsMs }),
        )
      }
    }
  },
)

/** The minutes in which a rule that was due before is evaluated. */
function evaluated(
  begins: Date,
  cron: string,
  zone: string,
  { delay, lastsMs }: { readonly delay: number; readonly lastsMs: number },
): number[] {
  const delayMs = Math.floor(delay / 60) * MINUTE_MS
  const due = expected(new Date(begins.getTime() - delayMs), [[cron, zone]], lastsMs)
  return [...due.keys()].map(at => at + delayMs)
}
