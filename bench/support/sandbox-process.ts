import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { SandboxOptions } from '#src/sandbox/options.ts'

/** A sandbox platform in a process of its own, so that its work is not measured with ours. */
export type SandboxProcess = AsyncDisposable & {
  readonly baseUrl: string
  readonly appKey: string
  /** Unix milliseconds at the zero of its `performance.now()`. */
  readonly timeOrigin: number
  /** Runs one of the sandbox's admin commands (`src/sandbox/admin.ts`) and returns its result. */
  admin<Result>(name: string, fields?: object): Promise<Result>
}

/** What the process says once it listens. */
export type SandboxReady = Pick<SandboxProcess, 'baseUrl' | 'appKey' | 'timeOrigin'>

const CHILD = fileURLToPath(new URL('sandbox-child.ts', import.meta.url))

export async function openSandboxProcess(options: Partial<SandboxOptions>): Promise<SandboxProcess> {
  const child = fork(CHILD, [JSON.stringify(options)])
  const [ready] = (await once(child, 'message')) as [SandboxReady]
  const { baseUrl } = ready
  return {
    ...ready,
    async admin(name, fields = {}) {
      const response = await fetch(`${baseUrl}/_sandbox/${name}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(fields),
      })
      const text = await response.text()
      if (!response.ok) throw new Error(`The sandbox refused ${name}: ${text}`)
      return JSON.parse(text)
    },
    [Symbol.asyncDispose]: () => end(child),
  }
}

/** Ends a process for certain, suspended ones too, and waits until it is gone. */
export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}
