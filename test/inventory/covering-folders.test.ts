import { expect, test } from 'vitest'
import { rejectRun } from '#src/inventory/holds/approve.ts'
import { ADA } from '#test/support/acted-by.ts'
import type { FerryHarness } from '#test/support/ferry-harness.ts'
import { EVERYTHING, FOLDER_1, keep, openHolds, openKnown } from './known-rules.ts'
import { currentIds, syncListed, upTo } from './scripted-account.ts'

/* What was held or rejected in some folders, and listings of others. */

const BOTH = { folders: [1n, 2n] }
/** Twelve rules of folder 1 are gone. */
const WITHOUT_SOME = keep(...upTo(40).slice(12))

/** Rules that no poll removes, since a person said that they are not gone. */
const rejected = (harness: FerryHarness) =>
  harness.query(
    `select cardinality(rejected_ids) as rows from ferry.removal_holds where rejected_ids is not null`,
  )

async function openBoth() {
  const harness = await openKnown()
  await syncListed(harness, [EVERYTHING], BOTH)
  return harness
}

test.each([
  ['more folders', FOLDER_1, BOTH],
  ['all folders', FOLDER_1, {}],
  ['fewer folders', {}, FOLDER_1],
])('a rejection ends for rows that a listing of %s has again', async (_, held, later) => {
  await using harness = await openBoth()
  const run = await syncListed(harness, [WITHOUT_SOME], held)
  await rejectRun(harness.ferry, run.run, ADA)
  expect(await rejected(harness)).toEqual([{ rows: 12 }])
  await syncListed(harness, [keep(...upTo(40).slice(2))], later)
  expect(await rejected(harness)).toEqual([{ rows: 2 }])
  await syncListed(harness, [EVERYTHING], later)
  expect(await rejected(harness)).toEqual([])
  expect(await syncListed(harness, [keep(...upTo(40).slice(1))], later)).toMatchObject({ removed: 1 })
  expect(await currentIds(harness)).toEqual(upTo(40).slice(1))
})

test('a rejection stays for rows of folders that a listing does not include', async () => {
  await using harness = await openBoth()
  const run = await syncListed(harness, [WITHOUT_SOME], FOLDER_1)
  await rejectRun(harness.ferry, run.run, ADA)
  await syncListed(harness, [EVERYTHING], { folders: [2n] })
  expect(await rejected(harness)).toEqual([{ rows: 12 }])
})

test('a hold of a folder ends with a listing of that and others that has its rows', async () => {
  await using harness = await openBoth()
  await syncListed(harness, [WITHOUT_SOME], FOLDER_1)
  await syncListed(harness, [EVERYTHING], { folders: [2n] })
  expect(await openHolds(harness)).toHaveLength(1)
  await syncListed(harness, [EVERYTHING], BOTH)
  expect(await openHolds(harness)).toEqual([])
})
