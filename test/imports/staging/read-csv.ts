import { CsvReader, type Delimiter } from '#src/imports/staging/file/csv.ts'
import { readBlocks } from '#src/imports/staging/file/lines.ts'

type Read = {
  rows: { line: number; values: unknown[]; raw: string }[]
  damaged: { line: number; reason: string; raw: string }[]
}

type How = {
  width?: number
  delimiter?: Delimiter
  chunk?: number
  accept?: (values: readonly unknown[]) => boolean
}

/** Reads a CSV of `width` columns that comes in chunks of so many bytes; `accept` is the check of rows. */
export async function readCsv(
  content: string | Buffer,
  { width = 2, delimiter = ',', chunk = 1 << 16, accept = () => true }: How = {},
): Promise<Read> {
  const read: Read = { rows: [], damaged: [] }
  const columns = Array.from({ length: width }, (_, n) => n)
  const reader = new CsvReader({ delimiter, width, columns }, 1, {
    row(line, values, raw) {
      if (accept(values)) read.rows.push({ line, values: [...values], raw })
      else read.damaged.push({ line, reason: 'check', raw })
    },
    faultOf: values => (accept(values) ? null : 0),
    damaged: (line, reason, _, raw) => read.damaged.push({ line, reason, raw }),
  })
  for await (const block of readBlocks(chunks(Buffer.from(content), chunk))) reader.read(block)
  return read
}

async function* chunks(content: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < content.length; at += size) yield content.subarray(at, at + size)
}

export const isAddress = (values: readonly unknown[]) => /^\S+@\S+$/.test(String(values[0]))
