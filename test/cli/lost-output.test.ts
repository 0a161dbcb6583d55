import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { test as always, expect, onTestFinished } from 'vitest'
import { COMMON_ENV, FERRY } from './run-ferry.ts'

// Whatever is written there fails as on a full disk. Only Linux has it.
const FULL = '/dev/full'
const test = always.skipIf(process.platform !== 'linux')

/** Runs a command, without a database, one of whose streams is a full disk. Returns what the other one got. */
async function runOnFullDisk(stream: 'stdout' | 'stderr', args: readonly string[]) {
  const full = openSync(FULL, 'w')
  onTestFinished(() => closeSync(full))
  const child = spawn(process.execPath, [FERRY, ...args], {
    env: { ...COMMON_ENV, DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' },
    stdio: ['ignore', stream === 'stdout' ? full : 'pipe', stream === 'stderr' ? full : 'pipe'],
  })
  let other = ''
  for (const output of [child.stdout, child.stderr]) {
    output?.setEncoding('utf8').on('data', text => {
      other += text
    })
  }
  const [code] = await once(child, 'close')
  return { code, other }
}

test('a log that cannot be written changes nothing else', async () => {
  expect(await runOnFullDisk('stderr', ['rules', 'list', '--since', 'x'])).toEqual({ code: 2, other: '' })
})

test.each([
  ['--help', 1],
  ['doctor', 2],
])('a command whose results cannot be written fails, and says so in a line: %s', async (command, code) => {
  expect(await runOnFullDisk('stdout', [command])).toEqual({
    code,
    other: 'ferry: the output cannot be written (ENOSPC): some of it is lost.\n',
  })
})

test('a reader that stops reading is no failure', async () => {
  const child = spawn(process.execPath, [FERRY, '--help'], {
    env: COMMON_ENV,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  child.stdout.destroy()
  expect(await once(child, 'close')).toEqual([0, null])
})

test('a worker that cannot start waits some seconds for a slow reader, and for one that never reads not for ever', async () => {
  const start = () =>
    spawn(process.execPath, [FERRY, 'worker'], {
      // Far more than a pipe holds, and why it does not start at the end.
      env: { ...COMMON_ENV, NODE_DEBUG: '*' },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
  const [slow, never] = [start(), start()]
  const closed = once(slow, 'close')
  const ended = once(never, 'exit')
  await delay(2_000)
  let text = ''
  slow.stderr.setEncoding('utf8').on('data', more => {
    text += more
  })
  expect(await closed).toEqual([2, null])
  expect(text).toContain('NODE_DEBUG: "*" would print the app_key')
  expect(await ended).toEqual([2, null])
})
