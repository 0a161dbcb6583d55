import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { fetch } from 'undici'
import { expect, onTestFinished, test } from 'vitest'
import { OPERATIONS } from '#src/platform/operations.ts'
import { send } from '#src/sandbox/answer.ts'
import { parseJson } from '#src/sandbox/json.ts'
import { SANDBOX_ACCOUNT_ID } from '#src/sandbox/keys.ts'
import { Payload } from '#src/sandbox/payload.ts'
import { RowStore } from '#src/sandbox/row-store.ts'
import type { Sandbox } from '#src/sandbox/sandbox.ts'
import { call, openSmallSandbox } from './sandbox-harness.ts'

type Row = { readonly id: number; readonly word: string; readonly even?: boolean }

/** So many that they leave in several pieces. */
const MANY = 3_500

/** The rules as the state has them, without the fields that are null: those are not sent. */
function rulesIn({ state }: Sandbox): unknown[] {
  return state.rules.rows().map(rule => JSON.parse(JSON.stringify(rule, (_key, part) => wireValue(part))))
}

function wireValue(part: unknown): unknown {
  if (part === null) return undefined
  return typeof part === 'bigint' ? Number(part) : part
}

function store(size: number) {
  const made: number[] = []
  const rows = new RowStore<number, Row>(
    row => row.id,
    id => {
      made.push(id)
      return { id, word: `word ${id}`, even: id % 2 === 0 }
    },
  )
  for (let id = 0; id < size; id++) rows.addSample(id)
  made.length = 0
  return { rows, made }
}

function read(pieces: readonly Payload[]): Row[] {
  return JSON.parse(Buffer.concat(pieces.map(piece => piece.bytes)).toString())
}

test('a long listing has every rule in its order, plain and gzipped, the first time and again', async () => {
  await using sandbox = await openSmallSandbox({ rules: MANY, hugeIds: 0 })
  const expected = rulesIn(sandbox)
  const url = `${sandbox.baseUrl}${OPERATIONS['list-alert-rules'].path}?app_key=${sandbox.appKey}`
  for (const encoding of ['identity', 'gzip', 'gzip', 'identity']) {
    const headers = { 'content-type': 'application/json', 'accept-encoding': encoding }
    const response = await fetch(url, { method: 'POST', headers, body: '{}' })
    expect(response.headers.get('content-encoding') ?? 'identity').toBe(encoding)
    expect(((await response.json()) as { data: unknown }).data).toEqual(expected)
  }
})

test('in a long listing a folder has its own rules, wherever they are, and another account none', async () => {
  await using sandbox = await openSmallSandbox({ rules: MANY, folders: 3 })
  const late = sandbox.state.addRule({ folder_id: 7n })
  sandbox.state.addRule({ folder_id: 8n }, 0)
  sandbox.state.addRule({ folder_id: 8n })
  sandbox.state.addKey({ key: 'other', accountId: SANDBOX_ACCOUNT_ID + 1n })
  const listed = async (folder: bigint, key = sandbox.appKey) => {
    const { text } = await call(sandbox, 'list-alert-rules', {}, { text: `{"folder_id":${folder}}`, key })
    return (parseJson(text) as { data: { id: bigint | number }[] }).data.map(rule => BigInt(rule.id))
  }
  for (const folder of sandbox.state.folders) {
    const own = sandbox.state.rules.rows().filter(rule => rule.folder_id === folder)
    expect(await listed(folder)).toEqual(own.map(rule => rule.id))
  }
  expect(await listed(7n)).toEqual([late.id])
  expect(await listed(0n, 'other')).toEqual([])
})

test('a listing shows the rows as they were when it began, whatever changes while it is sent', () => {
  const { rows } = store(MANY)
  rows.change(10, { word: 'changed before' })
  const listing = rows.listing('all', () => true)
  const before = read(listing)
  expect(before[10]).toMatchObject({ id: 10, word: 'changed before' })
  rows.change(10, { word: 'changed again' })
  rows.change(MANY - 1, { word: 'changed' })
  rows.remove(2_000)
  rows.add({ id: -1, word: 'added' }, 0)
  rows.reorder(3)
  expect(JSON.stringify(read(listing))).toBe(JSON.stringify(before))
  const after = read(rows.listing('all', () => true))
  expect(after).toHaveLength(MANY)
  expect(Object.keys(after[0]!)).not.toEqual(Object.keys(before[0]!))
})

test('the pieces of a long listing are made one by one, and once each', async () => {
  const { rows, made } = store(MANY)
  const pieces = rows.listing('all', () => true)
  expect(made.length).toBeLessThan(10)
  const [first] = pieces
  const sizes = [await first!.gzipped(), await first!.gzipped(), await first!.plain()].map(
    each => each.length,
  )
  expect(sizes[2]).toBeGreaterThan(sizes[0]!)
  expect(made.length).toBeLessThan(MANY / 2)
  expect(new Set(made).size).toBeGreaterThan(made.length - 10)
})

test('a piece is made when the caller has taken those before it, and none after the caller has gone', async () => {
  let made = 0
  const piece = () =>
    new Payload(() => {
      made += 1
      return Buffer.alloc(1_000_000, 'x')
    })
  const body = Array.from({ length: 200 }, piece)
  const { promise: answering, resolve } = Promise.withResolvers<ServerResponse>()
  const { promise: ended, resolve: end } = Promise.withResolvers<void>()
  const server = createServer((_request, response) => {
    resolve(response)
    end(send(response, { status: 200, code: null, headers: {}, body }, false))
  })
  onTestFinished(() => void server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const caller = connect((server.address() as AddressInfo).port, '127.0.0.1')
  caller.pause().write('GET / HTTP/1.1\r\nHost: here\r\n\r\n')
  const response = await answering
  let before = 0
  const isWaiting = () => {
    const isSame = made === before
    before = made
    return isSame && response.writableNeedDrain
  }
  await expect.poll(isWaiting, { interval: 100 }).toBe(true)
  caller.destroy()
  await ended
  expect(made).toBeGreaterThan(0)
  expect(made).toBeLessThan(100)
})

test('half of a long listing can be sent, and then the connection closed', async () => {
  await using sandbox = await openSmallSandbox({ rules: MANY })
  sandbox.state.inject({ kind: 'truncate' }, { nth: 1 })
  await expect(call(sandbox, 'list-alert-rules')).rejects.toThrow('terminated')
  expect((await call(sandbox, 'list-alert-rules')).body.data).toHaveLength(MANY)
})

test('samples and other rows stay in the order in which they were added, each id once', () => {
  const { rows } = store(3)
  expect(rows.size).toBe(3)
  expect(() => rows.add({ id: 1, word: 'a sample has this id' })).toThrow('already has a row 1')
  rows.add({ id: -1, word: 'other' })
  rows.addSample(3)
  rows.remove(0)
  rows.addSample(4)
  expect(rows.ids()).toEqual([1, 2, -1, 3, 4])
  expect(rows.rows().map(row => row.id)).toEqual(rows.ids())
  expect(read(rows.listing('all', () => true)).map(row => row.id)).toEqual(rows.ids())
  expect(rows.size).toBe(5)
  for (const id of rows.ids()) rows.remove(id)
  rows.addSample(5)
  expect(rows.ids()).toEqual([5])
})
