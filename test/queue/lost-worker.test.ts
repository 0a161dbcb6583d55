import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { waitFor } from '../support/wait-for.ts'
import { BACKENDS, ONCE, openGate, reconcileOften, setup, testJob } from './setup.ts'
import type { StandIn } from './stand-in.ts'

const SCRIPT = fileURLToPath(new URL('stand-in.ts', import.meta.url))
const timing = ONCE

/** After a kill, the slot is held for 18 s at most. */
const HELD_MS = 18_000
const LOOK_MS = 3_000

describe.each(BACKENDS)('a worker that is lost, on %s', kind => {
  test('leaves its slot to another within seconds when it was killed', { timeout: 60_000 }, async () => {
    await using room = await setup(kind)
    await using lost = await startStandIn({ ...room.backend, timing, drainMs: 1_000 })
    await lost.wrote('begun')
    lost.kill('SIGKILL')
    const killedAt = Date.now()

    const job = testJob({ timing: () => timing })
    await room.work([job, reconcileOften])
    await waitFor(() => job.calls.length === 1, { what: 'the other worker', timeoutMs: 30_000 })
    expect(Date.now() - killedAt).toBeLessThan(HELD_MS + LOOK_MS)
    await waitFor(async () => (await room.slots())[0]?.done_at, { what: 'the slot to be done' })
    expect(await room.slots()).toMatchObject([{ attempts: 2, outcome: 'succeeded' }])
  })

  test('cannot disturb who took its slot, when it was only suspended', { timeout: 60_000 }, async () => {
    await using room = await setup(kind)
    await using suspended = await startStandIn({ ...room.backend, timing, drainMs: 1_000 })
    await suspended.wrote('begun')
    suspended.kill('SIGSTOP')

    const gate = openGate()
    const job = testJob({ timing: () => timing, run: (_, __, signal) => gate.pass(signal) })
    await room.work([job, reconcileOften])
    await waitFor(() => job.calls.length === 1, { what: 'the other worker', timeoutMs: 30_000 })
    suspended.kill('SIGCONT')
    await suspended.wrote('aborted')
    suspended.kill('SIGTERM')
    await suspended.wrote('drained')
    const [taken] = await room.slots()
    expect(taken).toMatchObject({ attempts: 2, done_at: null })
    expect(taken!.retry_at!.getTime()).toBeGreaterThan(Date.now())

    gate.release()
    await waitFor(async () => (await room.slots())[0]?.done_at, { what: 'the slot to be done' })
    expect(await room.slots()).toMatchObject([{ attempts: 2, outcome: 'succeeded' }])
  })
})

async function startStandIn(options: Omit<StandIn, 'file'>) {
  const directory = await mkdtemp(join(tmpdir(), 'ferry-test-stand-in-'))
  const file = join(directory, 'written')
  const child = spawn(process.execPath, [SCRIPT, JSON.stringify({ ...options, file })], {
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const ended = new Promise<void>(resolve => child.once('exit', () => resolve()))
  return {
    kill: (signal: NodeJS.Signals) => child.kill(signal),
    async wrote(word: string) {
      await waitFor(async () => (await readFile(file, 'utf8')).includes(word), {
        what: `the stand-in to have ${word}`,
        timeoutMs: 15_000,
      })
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await ended
      await rm(directory, { recursive: true })
    },
  }
}
