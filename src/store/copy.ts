import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { PoolClient } from 'pg'
import { from as copyFrom } from 'pg-copy-streams'

/** Bytes gathered before they are handed to the socket: large enough that the calls cost nothing. */
const CHUNK = 128 * 1024

const SPECIAL = /[\\\n\r\t]/
const EACH_SPECIAL = /[\\\n\r\t]/g
const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/**
 * Writes lines of COPY's text format into `target` (a table with its columns); resolves once Postgres has them all.
 * The lines are made while Postgres takes in those before them: nothing grows with their number.
 */
export async function copyLines(client: PoolClient, target: string, lines: Iterable<string>): Promise<void> {
  await pipeline(
    Readable.from(chunked(lines), { objectMode: false }),
    client.query(copyFrom(`copy ${target} from stdin`)),
  )
}

/** One field as COPY reads it; null is `\N`. */
export function copyField(value: string | null): string {
  if (value === null) return '\\N'
  return SPECIAL.test(value)
    ? value.replace(EACH_SPECIAL, character => ESCAPES[character] ?? character)
    : value
}

/** A text[] as Postgres reads it; null for none, so that an ordinary row costs one bit. */
export function textArray(values: readonly string[] | undefined): string | null {
  if (!values || values.length === 0) return null
  return `{${values.map(value => `"${value.replace(/["\\]/g, '\\$&')}"`).join(',')}}`
}

function* chunked(lines: Iterable<string>): Generator<Buffer> {
  let chunk = ''
  for (const line of lines) {
    chunk += line
    if (chunk.length >= CHUNK) {
      yield Buffer.from(chunk)
      chunk = ''
    }
  }
  if (chunk !== '') yield Buffer.from(chunk)
}
