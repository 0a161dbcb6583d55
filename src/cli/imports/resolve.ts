import type { Ferry } from '#src/ferry.ts'
import { resolveUncertain } from '#src/imports/control/resolve.ts'
import { loadSummary } from '#src/imports/reporting/summary.ts'
import { counted } from '#src/model/counted.ts'
import type { ImportStatus } from '#src/model/import.ts'
import { actedBy } from '../acted-by.ts'
import { EXIT, type ExitCode } from '../exit.ts'
import { wakeWorkersFor } from '../import/wake-workers.ts'
import { print, printJson } from '../output.ts'

export type ResolveOptions = {
  as: 'sent' | 'resend'
  by?: string
  because?: string
  batch?: bigint
  json?: true
}

/** Records what a person found out, and wakes a worker if there are rows to send. */
export async function resolve(ferry: Ferry, id: bigint, options: ResolveOptions): Promise<ExitCode> {
  const { by, because } = options
  const who = actedBy({ ...(by !== undefined && { as: by }), ...(because !== undefined && { because }) })
  const { batches, rows, status } = await resolveUncertain(
    ferry.pool,
    id,
    options.as,
    options.batch ?? null,
    who,
  )
  if (status === 'queued') await wakeWorkersFor(ferry, id)
  if (options.json) {
    printJson(await loadSummary(ferry.pool, id))
    return EXIT.done
  }
  const what = options.as === 'sent' ? 'counted as sent' : 'to be sent again'
  const decided = `${counted(batches, 'batch', 'batches')} with ${counted(rows, 'row')} ${what}`
  print(`Import ${id}: ${decided}. It is ${status}${options.as === 'resend' ? howSent(status) : '.'}`)
  return EXIT.done
}

function howSent(status: ImportStatus): string {
  if (status === 'cancelled') return ': importing the file again sends them.'
  return status === 'paused' ? ': resuming it sends them.' : '.'
}
