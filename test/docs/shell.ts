import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'

export type Env = Readonly<Record<string, string>>

/** Where a line is run, with these variables and no others. */
export type Place = { readonly cwd: string; readonly env: Env }

export type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string }

function spawnShell(text: string, { cwd, env }: Place): ChildProcess {
  // -e: as a reader stops at the first line that fails.
  return spawn('bash', ['-ec', text], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
}

/** No command of the pages takes so long, unless it waits for something that does not come. */
const LONGEST_MS = 300_000

/** Runs lines in one shell, to the end; kills what has not ended by then. */
export async function runShell(text: string, place: Place): Promise<Ended> {
  const child = spawnShell(text, place)
  const output = { stdout: '', stderr: '' }
  child.stdout?.setEncoding('utf8').on('data', text => {
    output.stdout += text
  })
  child.stderr?.setEncoding('utf8').on('data', text => {
    output.stderr += text
  })
  const timer = setTimeout(() => child.pid && process.kill(-child.pid, 'SIGKILL'), LONGEST_MS)
  const [code] = await once(child, 'close')
  clearTimeout(timer)
  return { code, ...output }
}

export type RunningShell = AsyncDisposable & {
  printed(): string
  /** The exit code, once it has ended. */
  readonly ended: Promise<number | null>
  /** Does what Ctrl-C does in a terminal: every process of the line gets SIGINT. */
  interrupt(): void
}

/** Starts a line that runs until it is stopped; disposing kills it. */
export function startShell(line: string, place: Place): RunningShell {
  const child = spawnShell(line, place)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', text => {
      output += text
    })
  }
  let isOver = false
  const ended = once(child, 'close').then(([code]) => {
    isOver = true
    return code
  })
  const signal = (name: NodeJS.Signals) => {
    if (!isOver && child.pid) process.kill(-child.pid, name)
  }
  return {
    printed: () => output,
    ended,
    interrupt: () => signal('SIGINT'),
    async [Symbol.asyncDispose]() {
      signal('SIGKILL')
      await ended
    },
  }
}
