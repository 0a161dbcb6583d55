import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readlinkSync } from 'node:fs'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { openSource } from '#src/imports/staging/file/source.ts'

test.for([
  { what: 'that nobody writes to', isOpened: false },
  { what: 'whose writer says nothing', isOpened: true },
])('a named pipe $what is given up at an interruption', async ({ isOpened }) => {
  await using opened = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'ferry-pipe-'))
  opened.defer(() => rm(directory, { recursive: true }))
  const path = join(directory, 'pipe')
  execFileSync('mkfifo', [path])
  const writer = isOpened ? await open(path, 'r+') : null
  const interruption = new AbortController()
  const read = async () => {
    await using source = await openSource(path, interruption.signal)
    return Array.fromAsync(source.content)
  }
  const reading = read().catch(error => error)
  await delay(100)
  interruption.abort(new Error('interrupted'))
  expect(await reading).toMatchObject({ message: 'interrupted' })
  await writer?.close()
  expect(openPaths()).not.toContain(path)
})

/** What this process has open, where the system says so. */
function openPaths(): string[] {
  if (!existsSync('/proc/self/fd')) return []
  return readdirSync('/proc/self/fd').flatMap(fd => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`)
    } catch {
      return [] // closed meanwhile
    }
  })
}

test('a file that is opened while an interruption comes leaves no error without an owner', async () => {
  const interruption = new AbortController()
  const opening = openSource('/dev/null', interruption.signal).catch(error => error)
  interruption.abort(new Error('interrupted'))
  expect(await opening).toMatchObject({ message: 'interrupted' })
})
