import { spawnSync } from 'node:child_process'
import { chmod, chown, mkdir, readdir, readFile, readlink, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ask, type HoldOptions, openEmbeddedHarness, ROOT } from './embedded-harness.ts'

const isRoot = process.getuid?.() === 0
const canMount = isRoot && spawnSync('unshare', ['--mount', 'true']).status === 0
const hasUserNamespaces = isRoot && spawnSync('unshare', ['--user', '--map-user=1000', 'true']).status === 0

/** The user a process runs as, as the machine sees it. */
async function uidOf(pid: number | undefined): Promise<number> {
  return Number(/^Uid:\t(\d+)/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1])
}

/**
 * Runs a holder from a project below `top`, which may be a place nobody but root can enter: the project is mounted
 * there for it alone. `without` is a program of the machine that fails for it.
 */
async function projectIn(top: string, without?: string): Promise<HoldOptions> {
  const root = join(top, 'project')
  await mkdir(root)
  const script = [
    'mount --bind "$1" "$2"',
    without && `mount --bind /bin/false ${without}`,
    'shift 2',
    'exec "$@"',
  ]
  return {
    root,
    through: ['unshare', '--mount', 'sh', '-ec', script.filter(Boolean).join('; '), 'sh', ROOT, root],
  }
}

describe.skipIf(!isRoot)('as root, Postgres runs', () => {
  test('as another user, who owns its files', async () => {
    await using place = await openEmbeddedHarness()
    await using postgres = await place.open()

    const uid = await uidOf((await place.postmaster())?.pid)
    expect(uid).toBeGreaterThan(0)
    expect((await stat(await place.home())).uid).toBe(uid)
    expect(postgres.how).toContain(`(uid ${uid})`)
    expect(await ask(postgres.url, 'select 1')).toBe(1)
  })

  test.skipIf(!hasUserNamespaces)('in a user namespace where only root may enter the directory', async () => {
    await using place = await openEmbeddedHarness({ mode: 0o700 })
    const first = await place.open()
    expect(first.how).toContain('unshare')
    expect(await uidOf((await place.postmaster())?.pid)).toBe(0)
    await first.close()

    await using second = await place.open()
    expect(second.url).toBe(first.url)
  })

  test.skipIf(!hasUserNamespaces || !canMount)(
    'in a user namespace where only root may enter the project',
    async () => {
      await using hidden = await openEmbeddedHarness({ mode: 0o700 })
      await using place = await openEmbeddedHarness()
      const holder = await place.hold(await projectIn(hidden.top))

      expect(holder.how).toContain('unshare')
      expect(await ask(holder.url, 'select 1')).toBe(1)
      await holder.leave()
      expect(await place.postmaster()).toBeUndefined()
    },
  )

  test.skipIf(!canMount)(
    'in a place of its own where there are no user namespaces either, and is found again',
    async () => {
      await using place = await openEmbeddedHarness({ mode: 0o700 })
      const hidden = await projectIn(place.top, '/usr/bin/unshare')
      const first = await place.hold(hidden)
      const home = await readlink(join(place.dataDir, 'postgres'))

      expect(first.how).toContain(dirname(home))
      expect(await uidOf((await place.postmaster())?.pid)).toBeGreaterThan(0)
      await ask(first.url, 'create table kept as select 42 as answer')
      await first.leave()
      expect(await place.postmaster()).toBeUndefined()

      const second = await place.hold(hidden)
      expect(second.url).toBe(first.url)
      expect(await ask(second.url, 'select answer from kept')).toBe(42)
      expect(await readdir(dirname(home))).toHaveLength(2)
      await second.leave()
    },
  )

  test.skipIf(!hasUserNamespaces)(
    'under the next name when its files moved to where the first cannot go',
    async () => {
      await using place = await openEmbeddedHarness()
      const first = await place.open()
      await ask(first.url, 'create table kept as select 42 as answer')
      await first.close()
      await chmod(place.top, 0o700)

      await using second = await place.open()
      expect(second.how).toContain('unshare')
      expect(await ask(second.url, 'select answer from kept')).toBe(42)
    },
  )
})

test.skipIf(!isRoot)('as an ordinary user, Postgres runs as that user', async () => {
  await using place = await openEmbeddedHarness()
  const [uid, gid] = [65534, 65534]
  await mkdir(place.dataDir)
  await chown(place.dataDir, uid, gid)
  const holder = await place.hold({ uid, gid })

  expect(holder.how).toContain('as the user who runs Ferry')
  expect(await uidOf((await place.postmaster())?.pid)).toBe(uid)
  await holder.leave()
  expect(await place.postmaster()).toBeUndefined()
})

test.skipIf(!isRoot)('a directory that belongs to somebody else is refused with advice', async () => {
  await using place = await openEmbeddedHarness()
  await (await place.open()).close()

  await expect(place.hold({ uid: 65534, gid: 65534 })).rejects.toThrow(
    'Run Ferry as the user who owns this directory',
  )
})
