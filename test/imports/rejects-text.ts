import { Writable } from 'node:stream'
import type { Pool } from 'pg'
import { writeRejects } from '#src/imports/reporting/rejects.ts'

/** The file of rejects of an import, and how many rows it has. */
export async function rejectsText(pool: Pool, id: bigint | null): Promise<{ text: string; rows: number }> {
  let text = ''
  const out = new Writable({
    write(chunk, _encoding, done) {
      text += chunk
      done()
    },
  })
  const rows = await writeRejects(pool, id ?? 0n, out)
  return { text, rows }
}
