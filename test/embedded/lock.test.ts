import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { loadPassword } from '#src/embedded/cluster.ts'
import { withDirectoryLock } from '#src/embedded/lock.ts'
import { openEmbeddedPostgres } from '#src/embedded/postgres.ts'

async function setup() {
  const directory = await mkdtemp(join(tmpdir(), 'ferry-lock-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  const lines: string[] = []
  const log = pino({ level: 'warn' }, { write: line => lines.push(line) })
  const file = join(directory, 'lock')
  return {
    directory,
    file,
    lines,
    whileLocked: <T>(work: () => Promise<T>) =>
      withDirectoryLock(directory, { retryForMs: 60_000, log }, work),
    lock: (signal?: AbortSignal, retryForMs = 60_000) =>
      withDirectoryLock(directory, { retryForMs, log, signal }, async () => 'done'),
    /** As a program would that may only read the file. */
    hold: () => {
      const held = new DatabaseSync(file)
      held.exec('begin exclusive')
      onTestFinished(() => held.close())
    },
  }
}

test('nobody else may open the lock, neither a new one nor one of an earlier version', async () => {
  const { file, lock } = await setup()
  expect(await lock()).toBe('done')
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  await rm(file)
  await writeFile(file, '')
  await chmod(file, 0o644)
  expect(await lock()).toBe('done')
  expect((await stat(file)).mode & 0o777).toBe(0o600)
})

test('a lock writes nothing, so that it can be taken on a full disk', async () => {
  const { directory, whileLocked } = await setup()
  expect(await whileLocked(() => readdir(directory))).toEqual(['lock'])
})

test('nobody else gets the lock before the work has ended', async () => {
  const { directory, whileLocked, lock } = await setup()
  const meanwhile = await whileLocked(async () => {
    await readdir(directory)
    return lock(undefined, 0).catch((error: Error) => error.name)
  })
  expect(meanwhile).toBe('PostgresNotRunning')
  expect(await lock()).toBe('done')
})

test('a lock that cannot be taken says why', async () => {
  const { file, lock } = await setup()
  await mkdir(file)
  await expect(lock()).rejects.toThrow(/lock cannot be locked: unable to open database file\.$/)
})

test('a signal ends the wait for a lock at once, whoever holds it', async () => {
  const { lock, hold } = await setup()
  await lock()
  hold()
  const stop = new AbortController()
  const waiting = lock(stop.signal)
  stop.abort(new Error('told to stop'))
  await expect(waiting).rejects.toThrow('told to stop')
})

test('a signal ends the wait to open a Postgres that another process opens or closes', async () => {
  const { directory, lock, hold } = await setup()
  await lock()
  hold()
  const stop = new AbortController()
  const opening = openEmbeddedPostgres({
    dataDir: directory,
    log: pino({ level: 'silent' }),
    signal: stop.signal,
  })
  stop.abort(new Error('told to stop'))
  await expect(opening).rejects.toThrow('told to stop')
})

test('whoever waits is told who holds the lock', async () => {
  const { lines, lock, hold } = await setup()
  await lock()
  hold()
  const refused = await lock(undefined, 1_200).catch((error: Error) => error)
  const name = await readFile('/proc/self/comm', 'utf8').then(
    line => line.trim(),
    () => '',
  )
  const holder =
    process.platform === 'linux'
      ? `(pid ${process.pid} ${name} of user ${process.getuid?.()})`
      : 'Another process'
  expect(`${refused}`).toContain(holder)
  expect(lines).toHaveLength(1)
  expect(lines[0]).toContain(holder)
})

test('a password that cannot be read is told with the file and the cause', async () => {
  const { directory } = await setup()
  await expect(loadPassword(directory)).rejects.toMatchObject({
    name: 'PostgresNotRunning',
    message: expect.stringContaining(join(directory, 'password')),
    cause: { code: 'ENOENT' },
  })
})
