import { randomBytes } from 'node:crypto'
import { Client } from 'pg'
import { expect, inject, test } from 'vitest'
import { withDatabase } from '#test/support/database.ts'
import { dropRole } from '#test/support/roles.ts'
import { type Cli, openCli } from './open-cli.ts'
import { jsonLines } from './run-ferry.ts'

/** Does what doctor says about the locks of the queue, as a superuser; returns what it said. */
async function takeLocksFromAll(cli: Cli) {
  const said = jsonLines(await cli.ferryRun('doctor --json')).find(({ check }) => check === 'locks')
  const [, select = ''] = /: (select .*) \\gexec$/.exec(`${said?.whatToDo}`) ?? []
  const { pathname } = new URL(cli.databaseUrl)
  await using superuser = await connect(withDatabase(inject('database').superuserUrl, pathname.slice(1)))
  const { rows } = await superuser.query<{ format: string }>(select)
  for (const { format } of rows) await superuser.query(format)
  return said
}

async function connect(connectionString: string) {
  const client = new Client({ connectionString })
  await client.connect()
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() })
}

test('finds no fault and exits 0', async () => {
  await using cli = await openCli({ rules: 3, servers: 2 })
  await cli.ferryRun('migrate')
  await takeLocksFromAll(cli)
  const ended = await cli.ferryRun('doctor --json')
  expect(ended).toMatchObject({ code: 0, stderr: '' })
  const findings = jsonLines(ended)
  expect(findings.map(finding => finding.check)).toEqual([
    'configuration',
    'postgres',
    'rights',
    'reader',
    'database',
    'connections',
    'holds',
    'imports',
    'inventories',
    'schedules',
    'workers',
    'clock',
    'queue',
    'platform',
    'platform',
  ])
  expect(new Set(findings.map(finding => finding.status))).toEqual(new Set(['ok']))
  const said = findings.map(finding => finding.found).join('\n')
  expect(said).toMatch(/the platform lists 2 MCP servers \(request_id \w+\)/)
  expect(said).toMatch(/a worker takes up to \d+: room for \d+ workers/)
})

test('says that every role may hold the locks of the queue, and with what SQL only those that need them may', async () => {
  await using cli = await openCli()
  await cli.ferryRun('migrate')
  const reader = `locker_${randomBytes(4).toString('hex')}`
  await cli.query(`create role ${reader} login password 'x' in role ferry_reader`)
  const lock = async () => {
    const url = Object.assign(new URL(cli.databaseUrl), { username: reader, password: 'x' })
    await using client = await connect(url.href)
    await client.query('select pg_advisory_lock(1)')
  }
  await lock()
  expect(await takeLocksFromAll(cli)).toEqual({
    check: 'locks',
    status: 'warn',
    found: expect.stringContaining('can stop the queue'),
    whatToDo: expect.stringMatching(/^As a superuser, with psql in this database: select /),
  })
  await expect(lock()).rejects.toThrow(/permission denied for function pg_advisory_lock/)
  const after = jsonLines(await cli.ferryRun('doctor --json'))
  expect(after.filter(({ check }) => check === 'locks' || check === 'queue')).toMatchObject([
    { check: 'queue', status: 'ok', found: expect.stringContaining('a job can be added') },
  ])
  await dropRole(cli, reader)
})

test('names both roles that need the locks, if one makes the tables of the queue and another one works', async () => {
  await using cli = await openCli()
  await cli.ferryRun('migrate')
  const maker = `"Maker ${randomBytes(4).toString('hex')}"`
  await cli.query(`create role ${maker}`)
  await cli.query(`grant ${maker} to current_user`)
  await cli.query(`alter schema ferry_queue owner to ${maker}`)
  const [{ me } = { me: '' }] = await cli.query<{ me: string }>('select quote_ident(current_user) as me')
  const said = jsonLines(await cli.ferryRun('doctor --json')).find(({ check }) => check === 'locks')
  const [, roles = ''] = /grant execute on function %1\$s to ([^']*)'/.exec(`${said?.whatToDo}`) ?? []
  expect(roles.split(', ').toSorted()).toEqual([maker, me].toSorted())
  await cli.query('alter schema ferry_queue owner to current_user')
  await dropRole(cli, maker)
})

test('says nothing of locks if the queue is in Redis', async () => {
  await using cli = await openCli()
  const ended = await cli.ferryRun('doctor --json', { REDIS_URL: 'redis://127.0.0.1:9' })
  expect(jsonLines(ended).map(({ check }) => check)).toContain('queue')
  expect(jsonLines(ended).map(({ check }) => check)).not.toContain('locks')
})
