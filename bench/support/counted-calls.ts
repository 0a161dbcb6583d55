import type { Received } from '#src/sandbox/received.ts'
import { atMost, type Figure } from './figures.ts'
import type { SandboxProcess } from './sandbox-process.ts'

const OPERATION = 'import-subscribers'

export type Window = { readonly most: number; readonly ms: number }

/** When imports were counted, in milliseconds from the first on, and when counting ended. */
export type Calls = {
  readonly times: readonly number[]
  readonly endMs: number
  /** How many of them were answered with 429. */
  readonly refused: number
}

/** This instant on the clock by which the sandbox counts. */
export function sandboxNow(sandbox: SandboxProcess): number {
  return performance.timeOrigin + performance.now() - sandbox.timeOrigin
}

/** The calls the sandbox counted up to an instant of its clock. */
export async function countedCalls(sandbox: SandboxProcess, endedAtMs: number): Promise<Calls> {
  const received = await sandbox.admin<Received[]>('received', { operation: OPERATION })
  const counted = received.flatMap(call => call.countedAt ?? []).sort((a, b) => a - b)
  const first = counted[0] ?? endedAtMs
  return {
    times: counted.filter(time => time <= endedAtMs).map(time => time - first),
    endMs: endedAtMs - first,
    refused: received.filter(call => call.status === 429).length,
  }
}

/**
 * Calls made of those possible after the first burst, in percent: each could have come one window after the one that
 * stood `most` places before it.
 */
export function paceOf({ times }: Calls, { most, ms }: Window): number {
  const waits = times.flatMap((time, n) => (n < most ? [] : [time - (times[n - most] ?? 0)]))
  const meanMs = waits.reduce((sum, wait) => sum + wait, 0) / waits.length
  return (100 * ms) / meanMs
}

export function maxInWindows(sandbox: SandboxProcess, windows: readonly Window[]): Promise<Figure[]> {
  return Promise.all(
    windows.map(async ({ most, ms }) => ({
      measure: `most imports in any ${ms} ms`,
      value: await sandbox.admin<number>('most-in-any-window', { operation: OPERATION, windowMs: ms }),
      unit: 'calls' as const,
      wanted: atMost(most, { always: true }),
    })),
  )
}
