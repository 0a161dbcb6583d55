import { spawn } from 'node:child_process'

/** Under which identity Postgres's programs run, and so to whom its files belong. */
export type RunAs = {
  readonly inWords: string
  /** Whose the files must be, as this process sees it; undefined leaves them as they are. */
  readonly owner?: { readonly uid: number; readonly gid: number }
  /** True: the child changes to `owner` before it runs the program. */
  readonly changeUser: boolean
  /** A program and its arguments that run the program given to it. */
  readonly through: readonly string[]
}

export const AS_OURSELVES: RunAs = { inWords: 'as the user who runs Ferry', changeUser: false, through: [] }

/**
 * As root inside a user namespace of its own, where root is called uid 1000: Postgres, which refuses uid 0, is
 * content, and outside of it is still root, who reaches places such as /root.
 */
export const IN_USER_NAMESPACE: RunAs = {
  inWords: 'as root under another name (unshare --user)',
  owner: { uid: 0, gid: 0 },
  changeUser: false,
  through: ['unshare', '--user', '--map-user=1000'],
}

export function asUser(name: string, uid: number, gid: number): RunAs {
  return { inWords: `as ${name} (uid ${uid})`, owner: { uid, gid }, changeUser: true, through: [] }
}

export type Finished = { readonly code: number | null; readonly output: string }

/**
 * Runs a program to its end and returns its exit code and all it wrote; never throws (code null: not started).
 *
 * It runs in a session of its own, so a Ctrl-C meant for Ferry does not reach it, in `/`, which everyone may
 * enter, and without our environment, so PGDATA, PGOPTIONS and the like have no say.
 */
export function run(runAs: RunAs, program: string, args: readonly string[]): Promise<Finished> {
  const [command = program, ...rest] = [...runAs.through, program, ...args]
  return new Promise(resolve => {
    const child = spawn(command, rest, {
      cwd: '/',
      detached: true,
      windowsHide: true,
      // Windows cannot start a program without some of its own variables.
      ...(process.platform !== 'win32' && { env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' } }),
      ...(runAs.changeUser && runAs.owner),
    })
    let output = ''
    const keep = (chunk: string) => {
      output += chunk
    }
    child.stdout.setEncoding('utf8').on('data', keep)
    child.stderr.setEncoding('utf8').on('data', keep)
    child.stdin.end()
    child.on('error', error => resolve({ code: null, output: error.message }))
    child.on('close', code => resolve({ code, output: output.trim() }))
  })
}
