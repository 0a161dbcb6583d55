import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync } from 'node:fs'
import { chmod, realpath, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { makeDataDir } from '#src/embedded/placement.ts'
import { findPostmaster } from '#src/embedded/server.ts'
import { runFerryHere, startFerry } from '../cli/run-ferry.ts'

const mount = (...args: string[]) => spawnSync('mount', args).status === 0

/** A directory on a small disk of its own; null where none can be made. */
async function smallDisk(): Promise<string | null> {
  const directory = mkdtempSync(join(tmpdir(), 'ferry-full-disk-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  if (!mount('-t', 'tmpfs', '-o', 'size=160m,mode=0755', 'tmpfs', directory)) return null
  onTestFinished(() => void spawnSync('umount', ['--lazy', directory]))
  return directory
}

test('on a full disk doctor says so, and what only reads still does', async ({ skip }) => {
  const dataDir = await smallDisk()
  if (dataDir === null) return skip('NOT RUN: no small disk can be mounted here')
  const env = { FERRY_DATA_DIR: dataDir, FERRY_POLL_EVERY: '1h' }
  await using up = startFerry(['up'], env)
  await up.printed('Ferry is up')
  await writeFile(join(dataDir, 'filling'), Buffer.alloc(160e6)).catch(() => {})
  expect((await runFerryHere(['runs', 'list'], env)).code).toBe(0)
  const { stdout } = await runFerryHere(['doctor'], env)
  expect(stdout).toMatch(
    /FAIL {2}postgres +the disk is full: \d+ MB are left for the embedded Postgres in .+\n +Free some space\./,
  )
  up.child.kill('SIGTERM')
  expect(await up.ended).toMatchObject({ code: 0 })
  expect(await findPostmaster(join(dataDir, 'postgres'))).toBeUndefined()
})

test('a data directory is made with all that it is in, and may be there already', async () => {
  const parent = mkdtempSync(join(tmpdir(), 'ferry-deep-path-'))
  onTestFinished(() => rm(parent, { recursive: true }))
  const path = join(parent, 'of', 'one', 'data')
  for (let time = 1; time <= 2; time++) expect(await makeDataDir(path)).toBe(await realpath(path))
  expect((await stat(path)).isDirectory()).toBe(true)
})

test('a data directory where nothing can be created is refused at once', async () => {
  await expect(makeDataDir('/proc/ferry/data/of/one')).rejects.toMatchObject({
    name: 'DataDirUnusable',
    message: expect.stringContaining('/proc/ferry/data/of/one cannot be created'),
  })
})

test.for(['$HOME', '`id`', 'a"b', 'a\\b', 'a\nb'])(
  'a data directory whose path a shell would act on is refused: %j',
  async name => {
    const parent = mkdtempSync(join(tmpdir(), 'ferry-odd-path-'))
    onTestFinished(() => rm(parent, { recursive: true }))
    await chmod(parent, 0o755)
    await expect(makeDataDir(join(parent, name))).rejects.toMatchObject({
      name: 'DataDirUnusable',
      message: expect.stringContaining('has a character that a shell would act on'),
    })
    expect(await makeDataDir(join(parent, "it's ü here"))).toContain("it's ü here")
    expect(readdirSync(parent)).toContain("it's ü here")
  },
)
