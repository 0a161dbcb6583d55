import { expect, test } from 'vitest'
import { saveFreshnessTargets } from '#src/reports/freshness-targets.ts'
import { FRESHNESS_TARGET } from '#test/support/freshness-target.ts'
import { addRun, ageRuns, NEW_RUN } from '#test/support/runs.ts'
import { openTestStore } from '#test/support/store.ts'

const HOURS_AGO = `select round(extract(epoch from now() - "from") / 3600)::int as "from",
  round(extract(epoch from now() - "to") / 3600)::int as "to" from ferry.blind_spots(now() - interval '3 hours') order by 1 desc`

/** Complete runs of some folders, so many hours ago, and where nothing was read of the folder 5 since. */
test.each([
  ['a run of it', [[5, '5']], [[5, null]]],
  [
    'runs of it and of others',
    [
      [5, '5'],
      [4, '7'],
      [2, '7'],
    ],
    [[5, null]],
  ],
  [
    'a run of all folders after one of it',
    [
      [6, '5'],
      [5, '0'],
    ],
    [[5, null]],
  ],
  [
    'a run of it after one of all folders',
    [
      [6, '0'],
      [5, '5'],
    ],
    [[5, null]],
  ],
  [
    'runs of all folders and of others',
    [
      [5, '0'],
      [4, '7'],
    ],
    [[5, null]],
  ],
  [
    'one of all folders in between',
    [
      [5, '5'],
      [4, '7'],
      [2, '0'],
      [1, '7'],
    ],
    [
      [5, 2],
      [2, null],
    ],
  ],
] as const)('%s leave the folder blind since the last one that read it', async (_, runs, spots) => {
  await using store = await openTestStore()
  const { pool } = store
  await saveFreshnessTargets(pool, [{ ...FRESHNESS_TARGET, folders: ['5'] }])
  for (const [ago, folder] of runs) {
    const run = await addRun(pool, { scope: { ...NEW_RUN.scope, folders: [folder] } })
    await ageRuns(pool, `${ago} hours`, run)
  }
  const { rows } = await pool.query(HOURS_AGO)
  expect(rows).toEqual(spots.map(([from, to]) => ({ from, to })))
})
