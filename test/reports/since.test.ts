import { expect, test } from 'vitest'
import { REPORTS } from '#src/reports/catalogue.ts'
import { ageImport } from '#test/support/age-import.ts'
import { addRun, ageRuns } from '#test/support/runs.ts'
import { stageRows } from '#test/support/staged.ts'
import { openTestStore } from '#test/support/store.ts'
import { ask, DAY, minutesAgo } from './ask.ts'

test.each([
  ['import_funnel', 'import'],
  ['rejects_by_reason', 'import'],
])('%s has all imports, or those since a time, or of an account', async (report, column) => {
  await using store = await openTestStore()
  const rejected = async () => {
    const id = await stageRows(store.pool, { rows: 2 })
    await store.pool.query(
      `insert into ferry.import_rejects (import_id, line, origin, reason, message) values ($1, 9, 'file', 'no address', 'm')`,
      [id],
    )
    return `${id}`
  }
  const [older, newer] = [await rejected(), await rejected()]
  await ageImport(store.pool, BigInt(older), '2 days')
  const imports = async (given: Parameters<typeof ask>[3] = {}) =>
    (await ask(store, report, column, given)).flat().map(String).sort()
  expect(await imports()).toEqual([older, newer])
  expect(await imports({ since: minutesAgo(DAY) })).toEqual([newer])
  expect(await imports({ account: 'default' })).toEqual([older, newer])
  expect(await imports({ account: 'another' })).toEqual([])
})

test('runs_health is about the last day, or since a time', async () => {
  await using store = await openTestStore()
  await addRun(store.pool)
  await ageRuns(store.pool, '2 days')
  await addRun(store.pool)
  expect(await ask(store, 'runs_health', 'runs')).toEqual([[1]])
  expect(await ask(store, 'runs_health', 'runs', { since: minutesAgo(3 * DAY) })).toEqual([[2]])
})

test('the note of what was removed goes as far back as the report does without a time', async () => {
  await using store = await openTestStore()
  const { rows } = await store.pool.query<{ name: string; days: number }>(
    `select distinct proname as name, extract(epoch from usual[1]::interval)::float8 / 86400 as days
     from pg_proc, regexp_matches(prosrc, 'coalesce[(][$]1, now[(][)] - interval ''([^'']+)''') usual
     where pronamespace = 'ferry'::regnamespace`,
  )
  for (const { name, looksBack } of REPORTS) {
    if (!looksBack || looksBack.days === null) continue
    // A person's edits are summed up from those of the editors.
    const source = name === 'edits_by_person' ? 'editors' : name
    expect(rows.filter(row => row.name === source)).toEqual([{ name: source, days: looksBack.days }])
  }
})
