import { constants, gzipSync, zstdCompressSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compressionOf, unpacked } from '#src/imports/staging/file/unpack.ts'
import { FileRefused } from '#src/imports/staging/file-refused.ts'

const A = Buffer.from(`email\n${Array.from({ length: 1000 }, (_, n) => `a${n}@example.com\n`).join('')}`)
const B = Buffer.from(Array.from({ length: 1000 }, (_, n) => `b${n}@example.com\n`).join(''))
const BOTH = Buffer.concat([A, B])
const NOTHING = Buffer.alloc(0)
const ZEROS = Buffer.alloc(512)
/** More than a chunk of the file: it comes when the part before has been unpacked. */
const MANY_ZEROS = Buffer.alloc(300_000)

const zstd = (data: Buffer) => zstdCompressSync(data, { params: { [constants.ZSTD_c_checksumFlag]: 1 } })
const skippable = (size: number, content = size) =>
  Buffer.concat([Buffer.from([0x53, 0x2a, 0x4d, 0x18, size, 0, 0, 0]), Buffer.alloc(content, 7)])
const joined = (...parts: (Buffer | string)[]) => Buffer.concat(parts.map(part => Buffer.from(part)))

const WHOLE: Record<string, [packed: Buffer, content: Buffer]> = {
  'gzip of one member': [gzipSync(A), A],
  'gzip of two members': [joined(gzipSync(A), gzipSync(B)), BOTH],
  'gzip with an empty member': [joined(gzipSync(A), gzipSync(NOTHING), gzipSync(B)), BOTH],
  'gzip filled up with zeros': [joined(gzipSync(A), ZEROS), A],
  'gzip filled up with many zeros': [joined(gzipSync(A), MANY_ZEROS), A],
  'zstd of one frame': [zstd(A), A],
  'zstd without checksums': [joined(zstdCompressSync(A), zstdCompressSync(B)), BOTH],
  'zstd of two frames': [joined(zstd(A), zstd(B)), BOTH],
  'zstd with an empty frame': [joined(zstd(NOTHING), zstd(A), zstd(NOTHING), zstd(B)), BOTH],
  'zstd between skippable frames': [joined(skippable(3), zstd(A), skippable(0), zstd(B), skippable(9)), BOTH],
  'zstd that was not worth packing': [zstd(Buffer.from('email\n')), Buffer.from('email\n')],
  'zstd of one byte many times': [zstd(Buffer.alloc(400_000, 'x')), Buffer.alloc(400_000, 'x')],
}

test.for(Object.entries(WHOLE))('%s is read whole, however it is cut', async ([, [packed, content]]) => {
  for (const chunk of [1, 7, 4096, 128 * 1024]) {
    expect((await contentOf(packed, chunk)).equals(content)).toBe(true)
  }
})

const altered = (data: Buffer, at: number) => {
  const copy = Buffer.from(data)
  copy[at] = (copy[at] ?? 0) ^ 0xff
  return copy
}

const BROKEN: Record<string, Buffer> = {
  'gzip with text after it': joined(gzipSync(A), 'email\n'),
  'gzip, zeros, gzip': joined(gzipSync(A), ZEROS, gzipSync(B)),
  'gzip, many zeros, gzip': joined(gzipSync(A), MANY_ZEROS, gzipSync(B)),
  'gzip, zeros, text': joined(gzipSync(A), ZEROS, 'x'),
  'gzip with a damaged next member': joined(gzipSync(A), altered(gzipSync(B), 0)),
  'gzip, then zstd': joined(gzipSync(A), zstd(B)),
  'zstd with text after it': joined(zstd(A), 'email\n'),
  'zstd with three letters after it': joined(zstd(A), 'abc'),
  'zstd with zeros after it': joined(zstd(A), ZEROS),
  'zstd, zeros, zstd': joined(zstd(A), ZEROS, zstd(B)),
  'zstd with a damaged next frame': joined(zstd(A), altered(zstd(B), 0)),
  'zstd with a damaged block in the next frame': joined(zstd(A), altered(zstd(B), 20)),
  'zstd, then gzip': joined(zstd(A), gzipSync(B)),
  'a skippable frame that is cut': joined(zstd(A), skippable(9, 5)),
}

test.for(Object.entries(BROKEN))('%s is refused, however it is cut', async ([, packed]) => {
  for (const chunk of [1, 7, 4096, 128 * 1024]) {
    await expect(contentOf(packed, chunk)).rejects.toThrow(/data of people.csv is damaged or cut off/)
  }
})

test('a packed file cut anywhere is read as the part before, or refused; never shortened', async () => {
  const parts = fc.constantFrom(gzipSync, zstd)
  await fc.assert(
    fc.asyncProperty(parts, fc.double({ min: 0, max: 1, noNaN: true }), async (pack, share) => {
      const first = pack(A)
      const packed = joined(first, pack(B))
      const cut = packed.subarray(0, 4 + Math.floor(share * (packed.length - 4)))
      const read = await contentOf(cut, 1000).catch(error => error)
      if (cut.length === first.length) expect(read.equals(A)).toBe(true)
      else if (cut.length === packed.length) expect(read.equals(BOTH)).toBe(true)
      else expect(read).toBeInstanceOf(FileRefused)
    }),
    {
      numRuns: 200,
      examples: [-1, 0, 1, 2, 3, 4].flatMap(n => [cutAfterFirst(gzipSync, n), cutAfterFirst(zstd, n)]),
    },
  )
})

/** The share at which a cut falls `n` bytes after the first part. */
function cutAfterFirst(pack: (data: Buffer) => Buffer, n: number): [(data: Buffer) => Buffer, number] {
  const [first, both] = [pack(A).length, pack(A).length + pack(B).length]
  return [pack, (first + n - 4 + 0.5) / (both - 4)]
}

async function contentOf(packed: Buffer, chunk: number): Promise<Buffer> {
  const compression = compressionOf(packed)
  if (compression === 'none') throw new Error('not packed')
  const parts: Buffer[] = []
  for await (const part of unpacked(chunks(packed, chunk), compression, 'people.csv')) parts.push(part)
  return Buffer.concat(parts)
}

async function* chunks(content: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < content.length; at += size) yield content.subarray(at, at + size)
}
