import { readFile } from 'node:fs/promises'
import { pino } from 'pino'
import { readConfig } from '#src/config.ts'
import { openFerry } from '#src/ferry.ts'
import { syncInventory } from '#src/inventory/sync.ts'
import { NEVER } from './lab.ts'

/* Run by `sync-memory.ts` as a process: syncs all accounts of its settings at once, and says what that took. */

export type SyncTask = { readonly settings: Record<string, string>; readonly rules: number }

/** Null if the sync failed: `message` says why. */
export type Synced = {
  readonly seconds: number | null
  readonly residentMb: number | null
  readonly message: string
}

process.on('disconnect', () => process.exit())
const task = JSON.parse(process.argv[2] ?? '{}') as SyncTask
process.send?.(await sync(task))

async function sync({ settings, rules }: SyncTask): Promise<Synced> {
  const log = pino({ level: 'silent' })
  await using ferry = await openFerry(readConfig(settings), { log, signal: NEVER })
  const startedAtMs = performance.now()
  const runs = await Promise.all(
    Array.from(ferry.accounts.keys(), account =>
      syncInventory(ferry, { account, resource: 'alert-rules', trigger: 'manual' }, NEVER),
    ),
  )
  const seconds = (performance.now() - startedAtMs) / 1000
  const failed = runs.find(run => run.added !== rules)
  if (failed) return { seconds: null, residentMb: null, message: `${failed.status}: ${failed.message}` }
  return { seconds, residentMb: await peakMb(), message: '' }
}

/** The most that this program has had in memory. `maxRSS` would include the process that started it. Linux only. */
async function peakMb(): Promise<number> {
  const status = await readFile('/proc/self/status', 'utf8')
  return (Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) * 1024) / 1e6
}
