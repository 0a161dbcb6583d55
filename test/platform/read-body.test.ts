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
