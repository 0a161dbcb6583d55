import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { SandboxOptions } from '#src/sandbox/options.ts'

/** A sandbox platform in a process of its own, so that its work is not measured with ours. */
export type SandboxProcess = AsyncDisposable & {
  readonly baseUrl: string
  readonly appKey: string
  /** Runs one of the sandbox's controls (`src/sandbox/controls.ts`) and returns its result. */
  control<Result>(name: string, fields?: object): Promise<Result>
}

const CHILD = fileURLToPath(new URL('sandbox-child.ts', import.meta.url))

export async function openSandboxProcess(options: Partial<SandboxOptions>): Promise<SandboxProcess> {
  const child = fork(CHILD, [JSON.stringify(options)])
  const [{ baseUrl, appKey }] = (await once(child, 'message')) as [{ baseUrl: string; appKey: string }]
  return {
    baseUrl,
    appKey,
    async control(name, fields = {}) {
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
