import { readFile } from 'node:fs/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Client } from 'pg'

setFlagsFromString('--expose-gc')
// Each collection makes code older, and V8 throws old code away. A worker collects once in many polls; a bench that does so
// before each of them would measure how the code of the rarer ones is compiled anew (0.1 to 0.2 s of a sync).
setFlagsFromString('--no-flush-bytecode')
const collectGarbage: () => void = runInNewContext('gc')

/** Milliseconds that `work` takes, begun with a clean heap: nobody pays for another's garbage. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  collectGarbage()
  const startedAtMs = performance.now()
  await work()
  return performance.now() - startedAtMs
}

/**
 * Megabytes that the server writes ahead while `work` runs, its own upkeep included. Begun with a checkpoint, after
 * which the first change to a page writes the page whole: the dearest moment there is.
 */
export async function walOf(client: Client, work: () => Promise<unknown>): Promise<number> {
  await client.query('checkpoint')
  const { rows } = await client.query<{ lsn: string }>('select pg_current_wal_lsn() as lsn')
  await work()
  const after = await client.query<{ bytes: string }>('select pg_current_wal_lsn() - $1::pg_lsn as bytes', [
    rows[0]?.lsn,
  ])
  return Number(after.rows[0]?.bytes) / 1e6
}

/** What a process takes of the memory. Linux only. */
export async function residentMb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return (Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024) / 1e6
}
