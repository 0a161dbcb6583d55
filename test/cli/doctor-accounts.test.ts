import { expect, test } from 'vitest'
import { recordWorker } from '#src/db/workers.ts'
import { saveFreshnessTargets } from '#src/reports/freshness-targets.ts'
import { ageImport } from '#test/support/age-import.ts'
import { FRESHNESS_TARGET } from '#test/support/freshness-target.ts'
import { stageRows } from '#test/support/staged.ts'
import { openCli } from './open-cli.ts'
import { jsonLines } from './run-ferry.ts'

test('doctor offers no command that needs an account for one that is in no settings here', async () => {
  await using cli = await openCli()
  const { pool } = cli.ferry
  const id = await stageRows(pool, { account: 'gone', status: 'queued' })
  await ageImport(pool, id, '1 minute')
  await saveFreshnessTargets(pool, [FRESHNESS_TARGET, { ...FRESHNESS_TARGET, account: 'gone' }])
  await recordWorker(pool, 'w', null, ['default'])
  const findings = jsonLines(await cli.ferryRun('doctor --json'))
  const ofGone = findings.filter(({ found }) => `${found}`.includes('account gone'))
  const words = ofGone.map(({ found, whatToDo }) => `${found}: ${whatToDo}`).join('\n')
  expect(words).toContain('no worker is processing it: Account gone is not in the settings here.')
  expect(words).toContain(
    'account gone, alert-rules: it has never been read completely: no worker has this account',
  )
  expect(words.match(/`ferry [^`]+`/g)).toEqual([`\`ferry imports cancel ${id}\``, '`ferry worker`'])
  expect(JSON.stringify(findings)).toContain('`ferry sync alert-rules --account default` reads it now.')
})

test('doctor says of an import that a sandbox left how to start one again', async () => {
  await using cli = await openCli()
  const id = await stageRows(cli.ferry.pool, { account: 'sandbox', status: 'queued' })
  await ageImport(cli.ferry.pool, id, '1 minute')
  const adviceIn = async (env: Record<string, string>) =>
    jsonLines(await cli.ferryRun('doctor --json', env)).find(({ found }) => `${found}`.includes('import 1 '))
  expect(await adviceIn({ FERRY_BASE_URL: '', FERRY_APP_KEY: '' })).toMatchObject({
    whatToDo: `Start its sandbox, and a worker, with \`ferry up\`, or \`ferry imports cancel ${id}\` ends it.`,
  })
  expect(await adviceIn({})).toMatchObject({ whatToDo: expect.stringContaining('not in the settings here') })
})
