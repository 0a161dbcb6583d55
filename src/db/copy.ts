import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { PoolClient } from 'pg'
import { from as copyFrom } from 'pg-copy-streams'

/** Characters collected before a write to the socket, so that the cost of the calls does not matter. */
const CHUNK_SIZE = 128 * 1024

const SPECIAL = /[\\\n\r\t]/
const EACH_SPECIAL = /[\\\n\r\t]/g
const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/**
 * Writes lines of COPY's text format into `target` (a table with its columns). Resolves when Postgres has them all.
 *
 * With `latin1`, each character of a line is one byte. Lines are taken from the iterable only as fast as Postgres accepts them, so memory does not grow with their number.
 */
export async function copyLines(
  client: PoolClient,
  target: string,
  lines: Iterable<string>,
  encoding: 'utf8' | 'latin1' = 'utf8',
): Promise<void> {
  await pipeline(
    Readable.from(chunked(lines, encoding), { objectMode: false }),
    client.query(copyFrom(`copy ${target} from stdin`)),
  )
}

/** Returns one field in COPY's text format; null is `\N`. */
export function copyField(value: string | null): string {
  if (value === null) return '\\N'
  return SPECIAL.test(value)
    ? value.replace(EACH_SPECIAL, character => ESCAPES[character] ?? character)
    : value
}

/** Returns a text[] in the syntax of Postgres. An empty list is null, which takes one bit of a row. */
export function textArray(values: readonly string[] | undefined): string | null {
  if (!values || values.length === 0) return null
  return `{${values.map(value => `"${value.replace(/["\\]/g, '\\$&')}"`).join(',')}}`
}

function* chunked(lines: Iterable<string>, encoding: 'utf8' | 'latin1'): Generator<Buffer> {
  let chunk = ''
  for (const line of lines) {
    chunk += line
    if (chunk.length >= CHUNK_SIZE) {
      yield Buffer.from(chunk, encoding)
      chunk = ''
    }
  }
  if (chunk !== '') yield Buffer.from(chunk, encoding)
}
