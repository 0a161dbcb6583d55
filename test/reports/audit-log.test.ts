import { expect, test } from 'vitest'
import { openCli } from '../cli/open-cli.ts'
import { jsonLines } from '../cli/run-ferry.ts'

test('the report audit_log has what people did, the newest first', async () => {
  await using cli = await openCli()
  await cli.ferryRun('schedules pause prune --as ada --because maintenance')
  await cli.ferryRun('schedules pause poll-alert-rules --as bob')
  await cli.query(`update ferry.audit set at = now() - interval '3 days' where actor = 'ada'`)
  const report = async (args: string) =>
    jsonLines(await cli.ferryRun(`report audit_log --format json${args}`)).map(act => [
      ...[act.account, act.actor, act.action, act.subject, act.because],
    ])
  const bob = ['default', 'bob', 'pause', 'schedule poll-alert-rules', null]
  expect(await report(' --since 7d')).toEqual([bob, ['*', 'ada', 'pause', 'schedule prune', 'maintenance']])
  expect(await report(' --since 24h')).toEqual([bob])
  expect(await report(' --account default')).toEqual([bob])
})
