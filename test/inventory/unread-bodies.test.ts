import type { ServerResponse } from 'node:http'
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { syncInventory } from '#src/inventory/sync.ts'
import { type FerryHarness, openFerryHarness } from '#test/support/ferry-harness.ts'
import { answerJson, openScriptedPlatform, success } from '#test/support/scripted-platform.ts'
import { waitFor } from '#test/support/wait-for.ts'
import { alertRuleWire } from '#test/support/wire.ts'
import { currentIds, scriptedAccount, withAccounts } from './scripted-account.ts'

/*
 * Answers that go wrong while nobody reads them yet: the rows of folder 2 are read once folder 1 has ended.
 */

const listOf = (...ids: number[]) =>
  JSON.stringify(success(ids.map(id => alertRuleWire({ id, name: `${id}`.repeat(2_000) }))))
const FIRST = listOf(1, 2)
const SECOND = listOf(3, 4)
const PACKED = gzipSync(SECOND)

const packed = (encoding: string, body: Buffer) => (response: ServerResponse) =>
  void response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': encoding }).end(body)

/** Sends the beginning of an answer; then the connection is reset. */
const reset = (headers: object, beginning: string | Buffer) => (response: ServerResponse) =>
  void response
    .writeHead(200, { 'content-type': 'application/json', ...headers })
    .write(beginning, () => response.socket?.resetAndDestroy())

const BROKEN: Readonly<Record<string, (response: ServerResponse) => void>> = {
  'is gzip that is cut short': packed('gzip', PACKED.subarray(0, -20)),
  'is gzip that is damaged': packed('gzip', PACKED.with(0, 0) as Buffer),
  'is brotli': packed('br', brotliCompressSync(SECOND)),
  'is deflate': packed('deflate', deflateSync(SECOND)),
  'is zstd': packed('zstd', zstdCompressSync(SECOND)),
  'is reset in the middle': reset({}, SECOND.slice(0, 3_000)),
  'is reset in the middle of its gzip': reset({ 'content-encoding': 'gzip' }, PACKED.subarray(0, -20)),
}

/** A platform that ends the answer for folder 1 only once the first one for folder 2 has gone out. */
async function openPlatform(second: (response: ServerResponse, nth: number) => void) {
  const ended = Promise.withResolvers<void>()
  let asked = 0
  const platform = await openScriptedPlatform(async ({ body }, response) => {
    if (!body.includes(':1}')) {
      response.on('close', ended.resolve)
      return second(response, ++asked)
    }
    response.writeHead(200, { 'content-type': 'application/json' }).write(FIRST.slice(0, 3_000))
    await ended.promise
    response.end(FIRST.slice(3_000))
  })
  return { ...platform, ended: ended.promise }
}

function sync(
  harness: FerryHarness,
  { client }: Awaited<ReturnType<typeof openPlatform>>,
  signal = new AbortController().signal,
) {
  const account = { ...scriptedAccount('default', () => []), client, folders: [1n, 2n] }
  const request = { account: 'default', resource: 'alert-rules', trigger: 'manual' } as const
  return syncInventory(withAccounts(harness, account), request, signal)
}

/** The errors that nobody took, which would end the process. */
function uncaughtErrors(): unknown[] {
  const errors: unknown[] = []
  const add = (error: unknown) => void errors.push(error)
  process.on('uncaughtException', add)
  onTestFinished(() => void process.off('uncaughtException', add))
  return errors
}

for (const [what, answer] of Object.entries(BROKEN)) {
  test(`an answer that ${what} before it is read costs a request, or the run, and not the process`, async () => {
    const uncaught = uncaughtErrors()
    await using harness = await openFerryHarness({ rules: 0, servers: 0 })
    await using broken = await openPlatform(answer)
    expect(await sync(harness, broken)).toMatchObject({
      status: 'failed',
      errorCode: 'NoAnswer',
      requests: 4,
      added: 0,
    })
    expect(await currentIds(harness)).toEqual([])

    await using brokenOnce = await openPlatform((response, nth) =>
      nth === 1 ? answer(response) : answerJson(response, SECOND),
    )
    expect(await sync(harness, brokenOnce)).toMatchObject({ status: 'succeeded', requests: 3, added: 4 })
    expect(await currentIds(harness)).toEqual([1, 2, 3, 4])
    expect(uncaught).toEqual([])
  })
}

test('a run that is told to stop while packed answers wait to be read ends, and so does its process in its own time', async () => {
  const uncaught = uncaughtErrors()
  await using harness = await openFerryHarness({ rules: 0, servers: 0 })
  const stopping = new AbortController()
  let waiting = 0
  await using platform = await openScriptedPlatform((_, response) => {
    response
      .writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
      .write(PACKED.subarray(0, -20), () => void waiting++)
  })
  const run = sync(harness, { ...platform, ended: Promise.resolve() }, stopping.signal)
  await waitFor(() => waiting === 2, { what: 'both answers to begin' })
  stopping.abort(new Error('draining'))
  expect(await run).toMatchObject({ status: 'failed', errorCode: 'Interrupted' })
  expect(uncaught).toEqual([])
})
