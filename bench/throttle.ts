import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Calls, countedCalls, maxInWindows, paceOf, sandboxNow } from './support/counted-calls.ts'
import { atLeast, type Figure } from './support/figures.ts'
import { type Bench, type Lab, settingsFor } from './support/lab.ts'
import { end, type SandboxProcess } from './support/sandbox-process.ts'

const CALLER = fileURLToPath(new URL('support/import-caller.ts', import.meta.url))

/**
 * Never over the limit and hardly ever under it, as the receiver counts: four processes with jitter on the way, one
 * killed, one suspended for two windows. With --long, one process at the real limits for ten minutes instead.
 *
 * What was possible: `most` calls at once and then `most` more in each longest window, spread evenly, over the time
 * from the first call counted to the end. No schedule within the limits can make more.
 */
export const throttle: Bench = lab => (lab.long ? realLimits(lab) : scaledLimits(lab))

async function scaledLimits(lab: Lab): Promise<Figure[]> {
  const windows = { short: { most: 2, ms: 100 }, long: { most: 20, ms: 6_000 } }
  const sandbox = await lab.openSandbox({ arriveMs: [0, 40], answerMs: [0, 40] })
  const settings = settingsFor(await lab.openDatabase(), sandbox, {
    FERRY_IMPORT_LIMIT: '2/100ms,20/6s',
    FERRY_ARRIVAL_BOUND: '500ms',
  })
  const callers = await Promise.all(Array.from({ length: 4 }, () => openCaller(lab, settings)))
  const [killed, suspended] = callers as [ChildProcess, ChildProcess]
  const part = lab.size(12_000, 1_500)
  await delay(part)
  killed.kill('SIGKILL')
  await delay(part)
  suspended.kill('SIGSTOP')
  await delay(2 * lab.size(windows.long.ms, 1_500))
  suspended.kill('SIGCONT')
  await delay(2 * part)
  const calls = await endedCalls(callers.slice(1), sandbox)
  const possible = Math.floor(windows.long.most * (1 + calls.endMs / windows.long.ms))
  return [
    ...(await maxInWindows(sandbox, [windows.short, windows.long])),
    {
      measure: `calls made of ${possible} possible in ${Math.round(calls.endMs / 1000)} s, 4 processes`,
      value: (100 * calls.times.length) / possible,
      unit: '%',
      wanted: atLeast(85),
    },
  ]
}

async function realLimits(lab: Lab): Promise<Figure[]> {
  const windows = { short: { most: 2, ms: 1_000 }, long: { most: 20, ms: 60_000 } }
  const sandbox = await lab.openSandbox({ answerMs: 100 })
  const caller = await openCaller(lab, settingsFor(await lab.openDatabase(), sandbox))
  await delay(615_000)
  const calls = await endedCalls([caller], sandbox)
  const inTenMinutes = calls.times.filter(time => time < 600_000).length
  return [
    ...(await maxInWindows(sandbox, [windows.short, windows.long])),
    {
      measure: 'calls a minute after the first burst, of 20',
      value: paceOf(calls, windows.long),
      unit: '%',
      wanted: atLeast(99),
    },
    {
      measure: 'calls in the ten minutes from the first on',
      value: inTenMinutes,
      unit: 'calls',
      wanted: atLeast(198),
    },
  ]
}

async function openCaller(lab: Lab, settings: Record<string, string>): Promise<ChildProcess> {
  const child = fork(CALLER, [JSON.stringify(settings)])
  lab.defer(() => end(child))
  await once(child, 'message')
  return child
}

async function endedCalls(callers: readonly ChildProcess[], sandbox: SandboxProcess): Promise<Calls> {
  const dead = callers.find(child => child.exitCode !== null || child.signalCode !== null)
  if (dead) throw new Error(`a process ended that should not have: ${dead.exitCode ?? dead.signalCode}`)
  const endedAtMs = sandboxNow(sandbox)
  await Promise.all(callers.map(end))
  return countedCalls(sandbox, endedAtMs)
}
