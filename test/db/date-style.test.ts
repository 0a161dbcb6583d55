import { pino } from 'pino'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { openDatabase } from '#src/db/pool.ts'
import { findColumn } from '#src/db/rows.ts'
import { openCli } from '#test/cli/open-cli.ts'
import { openTestDatabase } from '#test/support/database.ts'

test.for(['SQL, DMY', 'German', 'Postgres, MDY', 'ISO, YMD'])(
  'a database whose DateStyle is %s gives times all the same',
  async style => {
    await using database = await openTestDatabase()
    const log = pino({ level: 'silent' })
    await using before = openDatabase(database.url, log)
    await before.pool.query(`alter database ${database.name} set datestyle = '${style}'`)
    await using opened = openDatabase(database.url, log)
    const times = await findColumn(
      opened.pool,
      z.date(),
      `select timestamptz '2026-02-03 04:05:06.789Z' as at`,
    )
    expect(times).toEqual([new Date('2026-02-03T04:05:06.789Z')])
    expect(await findColumn(opened.pool, z.string(), `select '2026-02-03'::date::text as day`)).toEqual([
      '2026-02-03',
    ])
  },
)

test('commands work in such a database', async () => {
  await using cli = await openCli({ rules: 2 })
  await cli.query(
    `do $$ begin execute format('alter database %I set datestyle = ''German''', current_database()); end $$`,
  )
  expect(await cli.ferryRun('sync all')).toMatchObject({ code: 0, stderr: '' })
  for (const command of [
    'runs list',
    'changes',
    'freshness',
    'snapshots take',
    'snapshots list',
    'report nights',
  ]) {
    const { code, stderr } = await cli.ferryRun(command)
    expect({ command, code, isUnexpected: /unexpected/.test(stderr) }).toEqual({
      command,
      code: 0,
      isUnexpected: false,
    })
  }
  expect((await cli.ferryRun('runs list --json')).stdout).toMatch(/"startedAt":"\d{4}-\d\d-\d\dT/)
})
