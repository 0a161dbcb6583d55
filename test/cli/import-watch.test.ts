import { expect, test } from 'vitest'
import { purgeImport } from '#src/imports/control/purge.ts'
import { ADA } from '#test/support/acted-by.ts'
import { stageRows } from '#test/support/staged.ts'
import { openCli } from './open-cli.ts'

test('ends once nobody reads it any more, while the import goes on', async () => {
  await using cli = await openCli()
  const id = await stageRows(cli.ferry.pool, { rows: 2 })
  await using watching = cli.ferryStart(`imports watch ${id} --json`)
  await watching.printed('"status":"queued"')
  watching.child.stdout?.destroy()
  // What it would print next shows it that nobody is there.
  await cli.query(`update ferry.imports set status = 'running', started_at = now()`)
  expect(await watching.ended).toMatchObject({ code: 0, stderr: '' })
  expect(await cli.query('select status from ferry.imports')).toEqual([{ status: 'running' }])
})

test('of an import that was purged names nothing that could not be done', async () => {
  await using cli = await openCli()
  const id = await stageRows(cli.ferry.pool, { rows: 2, status: 'completed' })
  await cli.query('update ferry.imports set sent = 1, rejected = 1, recipients = 1')
  await purgeImport(cli.ferry.pool, id, ADA)
  const { stderr } = await cli.ferryRun(`imports watch ${id}`)
  expect(stderr).toBe(`ferry: import ${id}: 1 row rejected.\n`)
})
