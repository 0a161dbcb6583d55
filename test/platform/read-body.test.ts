import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { readWhole, unpack } from '#src/platform/read-body.ts'

test.each([
  ['gzip', true],
  ['GZIP', true],
  ['x-gzip', true],
  ['Identity', false],
  ['', false],
])('the encoding %j is understood', async (encoding, isPacked) => {
  const text = Buffer.from('{"request_id":"r"}')
  const body = Readable.from([isPacked ? gzipSync(text) : text])
  const headers = { 'content-encoding': encoding }
  expect(await readWhole(unpack({ body: body as never, headers }))).toEqual(text)
})

test('a body of 16 MiB is read whole, and no byte more', async () => {
  const half = Buffer.alloc(8 * 1024 * 1024)
  expect(await readWhole(Readable.from([half, half]))).toHaveLength(16 * 1024 * 1024)
  const more = readWhole(Readable.from([half, half, Buffer.from('x')]))
  await expect(more).rejects.toThrow('it has more than 16 MiB beside its rows')
})
