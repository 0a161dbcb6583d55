import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { jsonLines, runFerryHere, startFerry } from '#test/cli/run-ferry.ts'
import { openEmptyDatabase } from '#test/support/database.ts'
import { openCheckedSandbox } from '#test/support/sandbox.ts'
import { waitFor } from '#test/support/wait-for.ts'

/* The release before this one works on the schema of this one, beside its workers, and after a restart. */

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** The last release, and the commit that recorded it; none in a copy without its history. */
const RELEASE =
  Object.keys(JSON.parse(readFileSync(join(ROOT, 'drizzle/releases.json'), 'utf8'))).at(-1) ?? ''
const COMMIT =
  RELEASE && git('log', '--format=%H', `-S"${RELEASE}"`, '--', 'drizzle/releases.json').split('\n').at(-1)

const WHY_NOT = COMMIT ? '' : ' (NOT RUN: nothing is released yet, or the history of this copy is not here)'

test.skipIf(!COMMIT)(`the worker of the last release works on this schema${WHY_NOT}`, async () => {
  const directory = mkdtempSync(join(tmpdir(), 'ferry-last-release-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  execFileSync('sh', ['-c', 'git archive "$1" | tar x -C "$2"', 'sh', COMMIT ?? '', directory], {
    cwd: ROOT,
  })
  // The packages of today: what changed is Ferry.
  symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'))
  const entry = join(directory, 'src/cli/ferry.ts')

  await using sandbox = await openCheckedSandbox({ rules: 20, servers: 5 })
  await using database = await openEmptyDatabase()
  const env = {
    DATABASE_URL: database.url,
    FERRY_BASE_URL: sandbox.baseUrl,
    FERRY_APP_KEY: sandbox.appKey,
    FERRY_POLL_EVERY: '1s',
  }
  const runs = async () =>
    jsonLines(await runFerryHere(['runs', 'list', '--json'], env)).filter(
      ({ status }) => status === 'succeeded',
    ).length

  await using before = startFerry(['worker', '--json'], env, [], entry)
  await before.printed('"schedules"')
  await waitFor(
    async () => (await database.client.query("select to_regclass('ferry.sync_runs') as t")).rows[0].t,
    {
      what: 'the schema of the last release',
    },
  )
  expect((await runFerryHere(['migrate'], env)).code).toBe(0)

  // It polls on, and so does one that is started now.
  for (const started of [null, startFerry(['worker', '--json'], env, [], entry)]) {
    if (started) {
      before.child.kill('SIGTERM')
      expect((await before.ended).code).toBe(0)
    }
    await using _ = started
    await started?.printed('"schedules"')
    const seen = await runs()
    sandbox.state.mutate(5)
    await waitFor(async () => (await runs()) >= seen + 2, { what: 'two polls more' })
    if (started) {
      started.child.kill('SIGTERM')
      expect((await started.ended).code).toBe(0)
    }
  }
  const failed = jsonLines(await runFerryHere(['runs', 'list', '--json'], env)).flatMap(
    ({ status, message }) => (status === 'failed' ? [message] : []),
  )
  expect(failed).toEqual([])
})

function git(...args: readonly string[]): string {
  try {
    return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: 'pipe' }).trim()
  } catch {
    return ''
  }
}
