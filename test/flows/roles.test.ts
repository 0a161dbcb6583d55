import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { expect, inject, onTestFinished, test } from 'vitest'
import { openSandbox } from '#src/sandbox/sandbox.ts'
import { SANDBOX_PAGE_ID } from '#src/sandbox/state.ts'
import { jsonLines, runFerry, startFerry } from '#test/cli/run-ferry.ts'
import { onServer, withDatabase } from '#test/support/database.ts'
import { waitFor } from '#test/support/wait-for.ts'

/** The grants of docs/operators.md, as they stand there, for this database and for roles of its own. */
function advisedGrants(database: string, suffix: string): string {
  const docs = readFileSync(new URL('../../docs/operators.md', import.meta.url), 'utf8')
  const [, block] = /## Two roles[\s\S]*?```sql\n([\s\S]*?)```/.exec(docs) ?? []
  if (!block) throw new Error('docs/operators.md has no grants')
  return block
    .replaceAll('on database ferry', `on database ${database}`)
    .replaceAll('ferry_migrator', `ferry_migrator_${suffix}`)
    .replaceAll('ferry_runtime', `ferry_runtime_${suffix}`)
}

/** An empty database on which nobody but these two roles may do anything. */
async function setup() {
  await using opened = new AsyncDisposableStack()
  const { serverUrl: ownerUrl, superuserUrl: serverUrl } = inject('database')
  // The servers of these tests have one for all.
  await onServer(
    ownerUrl,
    'do $$ begin create role ferry_reader; exception when duplicate_object then end $$',
  )
  const suffix = randomBytes(4).toString('hex')
  const name = `ferry_roles_${suffix}`
  await onServer(serverUrl, `create database ${name}`)
  opened.defer(() => onServer(serverUrl, `drop role ferry_migrator_${suffix}, ferry_runtime_${suffix}`))
  opened.defer(() => onServer(serverUrl, `drop database ${name} with (force)`))
  const admin = new Client({ connectionString: withDatabase(serverUrl, name) })
  await admin.connect()
  opened.defer(() => admin.end())
  // All databases of a server share it, and other tests make it: whether there is one yet must not matter here.
  await admin.query(
    `do $$ begin create role ferry_reader nologin; exception when duplicate_object or unique_violation then null; end $$`,
  )
  await admin.query(`revoke all on database ${name} from public; grant connect on database ${name} to public`)
  const urlOf = (role: string) => {
    const url = Object.assign(new URL(withDatabase(serverUrl, name)), {
      username: `${role}_${suffix}`,
      password: 'x',
    })
    return url.href
  }
  const grant = async () => {
    await admin.query(advisedGrants(name, suffix))
    await admin.query(
      `alter role ferry_migrator_${suffix} password 'x'; alter role ferry_runtime_${suffix} password 'x'`,
    )
  }
  const sandbox = opened.use(await openSandbox({ rules: 20, servers: 3 }))
  const envOf = (role: string) => ({
    DATABASE_URL: urlOf(role),
    FERRY_DATA_DIR: join(tmpdir(), `ferry-roles-nowhere-${process.pid}`),
    FERRY_BASE_URL: sandbox.baseUrl,
    FERRY_APP_KEY: sandbox.appKey,
    FERRY_POLL_EVERY: '1s',
  })
  const kept = opened.move()
  return { admin, suffix, grant, envOf, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

test('with the grants of the docs, one role migrates and the other does all the rest', async () => {
  await using harness = await setup()
  await harness.grant()
  const runtime = harness.envOf('ferry_runtime')
  expect(await runFerry(['migrate'], harness.envOf('ferry_migrator'))).toMatchObject({ code: 0, stderr: '' })
  const doctor = await runFerry(['doctor', '--json'], runtime)
  // On the server of the tests everybody may hold advisory locks.
  expect(jsonLines(doctor).filter(finding => finding.status !== 'ok')).toMatchObject([{ check: 'locks' }])
  expect(doctor.code).toBe(0)

  await using worker = startFerry(['worker', '--json'], runtime)
  await worker.printed('"queue":"postgres"')
  const directory = mkdtempSync(join(tmpdir(), 'ferry-roles-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const file = join(directory, 'people.csv')
  writeFileSync(file, 'email\na@example.com\nb@example.com\nb@example.com\n')
  const options = ['--page', `${SANDBOX_PAGE_ID}`, '--all', '--default-locale', 'en-US', '--json']
  const dryRun = await runFerry(['import', file, ...options, '--dry-run'], runtime)
  expect(jsonLines(dryRun).at(-1)).toMatchObject({ read: 3, duplicate: 1 })
  expect((await runFerry(['import', file, ...options, '--yes'], runtime)).code).toBe(0)
  const done = async () => {
    const { rows } = await harness.admin.query(
      `select (select count(*) from ferry.imports where status = 'completed')::int as imports,
         (select count(*) from ferry.sync_runs where status = 'succeeded')::int as runs`,
    )
    return rows[0].imports === 1 && rows[0].runs >= 2
  }
  await waitFor(done, { what: 'polls and the import' })
  worker.child.kill('SIGTERM')
  const ended = await worker.ended
  expect(ended.code).toBe(0)
  expect(ended.stderr).not.toContain('permission denied')
})

test('the grants can be given after the first migration too, and doctor names those that are missing', async () => {
  await using harness = await setup()
  await harness.grant()
  await runFerry(['migrate'], harness.envOf('ferry_migrator'))
  const runtime = `ferry_runtime_${harness.suffix}`
  const rights = async () => {
    const ended = await runFerry(['doctor', '--json'], harness.envOf('ferry_runtime'))
    return jsonLines(ended).find(finding => finding.check === 'rights')
  }
  for (const [revoke, named] of [
    [`revoke usage on all sequences in schema ferry_queue from ${runtime}`, 'the sequence ferry_queue.'],
    [`revoke delete on ferry_queue.job from ${runtime}`, 'delete on ferry_queue.job'],
    [`revoke insert on ferry.sync_runs from ${runtime}`, 'insert on ferry.sync_runs'],
    [
      `revoke execute on function ferry_internal.finish_call from ${runtime}`,
      'execute of the function ferry_internal.finish_call',
    ],
    [`revoke temporary on database ferry_roles_${harness.suffix} from ${runtime}`, 'temporary tables'],
  ]) {
    await harness.admin.query(revoke as string)
    expect(await rights()).toMatchObject({ status: 'fail', found: expect.stringContaining(named as string) })
  }
  // The same block again, but for the roles, which are there.
  const again = advisedGrants(`ferry_roles_${harness.suffix}`, harness.suffix).replace(
    /^create role .*$/gm,
    '',
  )
  await harness.admin.query(again)
  expect(await rights()).toMatchObject({ status: 'ok' })
})
