import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { waitFor } from '../support/wait-for.ts'
import type { ScriptedWorkerOptions } from './scripted-worker-process.ts'

const SCRIPT = fileURLToPath(new URL('scripted-worker-process.ts', import.meta.url))

/** Starts a worker in a process of its own; it is gone at the end of the test. */
export async function startScriptedWorker(options: Omit<ScriptedWorkerOptions, 'file'>) {
  const directory = await mkdtemp(join(tmpdir(), 'ferry-test-scripted-worker-'))
  const file = join(directory, 'written')
  const child = spawn(process.execPath, [SCRIPT, JSON.stringify({ ...options, file })], {
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const ended = new Promise<void>(resolve => child.once('exit', () => resolve()))
  return {
    ended,
    kill: (signal: NodeJS.Signals) => child.kill(signal),
    async wrote(word: string) {
      await waitFor(async () => (await readFile(file, 'utf8')).includes(word), {
        what: `the scripted worker to have ${word}`,
      })
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await ended
      await rm(directory, { recursive: true })
    },
  }
}
