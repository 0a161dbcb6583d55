import { spawnSync } from 'node:child_process'
import { chmod, chown, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findPostmaster } from '#src/embedded/server.ts'

/** A user of no other test, and of no machine. */
const UID = 4321

/** Only root may make one. */
export const canMakeBareRoot =
  process.getuid?.() === 0 && spawnSync('unshare', ['--mount', 'true']).status === 0

export type BareRoot = AsyncDisposable & {
  /** The empty home of its user. It has this path inside and outside. */
  readonly home: string
  /** Wraps a line of a shell so that it runs in there, in the directory `cwd`, as its user. The process becomes that line's. */
  inside(line: string, cwd: string): string
}

/**
 * A file system like that of a new container: the programs of this machine and what stands in `prefix`, which is at
 * `/opt/ferry`, all of it read-only; a user; his empty home. Nothing else of this machine is there.
 */
export async function makeBareRoot(prefix: string): Promise<BareRoot> {
  const directory = await mkdtemp(join(tmpdir(), 'ferry-bare-'))
  const home = join(directory, 'home')
  const root = join(directory, 'root')
  await chmod(directory, 0o755)
  await mkdir(home)
  await chown(home, UID, UID)
  await mkdir(root)
  const script = `
    mount -t tmpfs -o mode=755 tmpfs ${root}
    for d in usr bin lib lib64; do
      [ -d /$d ] || continue
      mkdir ${root}/$d; mount --bind /$d ${root}/$d; mount -o remount,ro,bind ${root}/$d
    done
    mkdir -p ${root}/opt/ferry; mount --bind ${prefix} ${root}/opt/ferry; mount -o remount,ro,bind ${root}/opt/ferry
    mkdir -p ${root}/etc ${root}/dev ${root}/proc ${root}${home}
    echo someone:x:${UID}:${UID}::${home}:/bin/sh > ${root}/etc/passwd
    mount --rbind /dev ${root}/dev; mount --rbind /proc ${root}/proc; mount --bind ${home} ${root}${home}
    exec chroot --userspec=${UID}:${UID} ${root} env -i PATH=/opt/ferry/bin:/usr/bin:/bin HOME=${home} sh -c "$1"`
  return {
    home,
    inside: (line, cwd) => `exec unshare --mount sh -ec ${quoted(script)} sh ${quoted(`cd ${cwd}; ${line}`)}`,
    async [Symbol.asyncDispose]() {
      for (const at of ['.ferry', '.ferry/demo']) {
        const left = await findPostmaster(join(home, at, 'postgres'))
        if (left) process.kill(left.pid, 'SIGQUIT')
      }
      await rm(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
    },
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
