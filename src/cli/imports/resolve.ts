import type { Ferry } from '#src/ferry.ts'
import { resolveUncertain } from '#src/imports/control.ts'
import { loadSummary } from '#src/imports/progress.ts'
import type { ImportStatus } from '#src/model/import.ts'
import { EXIT, type ExitCode } from '../exit.ts'
import { ringForImport } from '../import/ring.ts'
import { counted, print, printJson } from '../output.ts'

/** Records what a person found out, and has a worker go on if there is anything to be sent. */
export async function resolve(
  ferry: Ferry,
  id: bigint,
  options: { as: 'sent' | 'resend'; batch?: bigint; json?: true },
): Promise<ExitCode> {
  const { batches, rows, status } = await resolveUncertain(ferry.pool, id, options.as, options.batch ?? null)
  if (status === 'queued') await ringForImport(ferry, id)
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
