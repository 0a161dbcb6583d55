import { spawn } from 'node:child_process'

/** The user as whom Postgres's programs run, and who owns its files. */
export type RunAs = {
  readonly inWords: string
  /** The owner that the files must have, as this process sees it; undefined leaves them as they are. */
  readonly owner?: { readonly uid: number; readonly gid: number }
  /** Whether the child process changes to `owner` before it runs the program. */
  readonly changeUser: boolean
  /** A program, with arguments, that starts the real program. */
  readonly through: readonly string[]
}

export const AS_OURSELVES: RunAs = { inWords: 'as the user who runs Ferry', changeUser: false, through: [] }

/**
 * Root in a user namespace in which root has uid 1000. Postgres, which refuses uid 0, accepts that. Outside the namespace it
 * is still root, and can reach directories such as /root.
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
 * Runs a program to its end, and returns its exit code and its output. Never throws; the code is null if the program could
 * not be started.
 *
 * It runs in a session of its own, so that a Ctrl-C for Ferry does not reach it; in `/`, which every user can enter; and
 * without Ferry's environment, so that PGDATA, PGOPTIONS and others have no effect; `env` is added to it.
 */
export function run(
  runAs: RunAs,
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Finished> {
  const [command = program, ...rest] = [...runAs.through, program, ...args]
  return new Promise(resolve => {
    const child = spawn(command, rest, {
      cwd: '/',
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
      windowsHide: true,
      // On Windows a program cannot start without some variables of the system.
      ...(process.platform !== 'win32' && {
        env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C', ...env },
      }),
      ...(runAs.changeUser && runAs.owner),
    })
    let output = ''
    const keep = (chunk: string) => {
      output += chunk
    }
    // What cannot be read of them is missing in the output, no more.
    for (const pipe of [child.stdout, child.stderr])
      pipe
        .setEncoding('utf8')
        .on('data', keep)
        .on('error', () => {})
    child.on('error', error => resolve({ code: null, output: error.message }))
    child.on('close', code => resolve({ code, output: output.trim() }))
  })
}
