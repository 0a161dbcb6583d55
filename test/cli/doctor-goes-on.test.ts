import { expect, test } from 'vitest'
import { openCli } from './open-cli.ts'
import { jsonLines } from './run-ferry.ts'

test('what cannot be examined is a failure of its own, and everything else is examined all the same', async () => {
  await using cli = await openCli()
  await cli.ferryRun('migrate')
  await cli.query(
    `drop table ferry.platform_calls, ferry.removal_holds, ferry.imports, ferry.freshness_targets, ferry.schedule_pauses,
       ferry.workers, ferry.backfills, ferry.deliveries cascade`,
  )
  const { code, stdout } = await cli.ferryRun('doctor --json')
  const found = jsonLines({ stdout })
  const needs = [
    ['database', 'platform_calls'],
    ['holds', 'removal_holds'],
    ['imports', 'imports'],
    ['inventories', 'freshness'],
    ['schedules', 'schedule_pauses'],
    ['workers', 'workers'],
    ['backfills', 'backfills'],
    ['clock', 'platform_calls'],
    ['notifications', 'deliveries'],
    ['platform', 'platform_calls'],
  ]
  expect(found.filter(({ status }) => status === 'fail')).toEqual(
    needs.map(([check, table]) => ({
      check,
      status: 'fail',
      found: `relation "ferry.${table}" does not exist`,
    })),
  )
  expect(found).toContainEqual(expect.objectContaining({ check: 'queue', status: 'ok' }))
  expect(code).toBe(1)
})
