import type { Pool } from 'pg'
import type { Logger } from 'pino'
import type { WorkEnd } from '#src/imports/work.ts'
import { loadSummaryRow } from '#src/store/imports/progress.ts'

/** Says on the log how the work on an import ended, if it ended: that others have their turn now is no news. */
export function createImportReport({
  pool,
  log,
}: {
  readonly pool: Pool
  readonly log: Logger
}): (importId: bigint, end: WorkEnd) => Promise<void> {
  return async (importId, end) => {
    if (end !== 'completed' && end !== 'undecided' && end !== 'paused' && end !== 'cancelled') return
    const row = await loadSummaryRow(pool, importId)
    if (!row) return
    const { account, status, read, sent, rejected, uncertain, pending } = row
    const counts = {
      import: row.id,
      account,
      page: row.page_id,
      status,
      read,
      sent,
      rejected,
      uncertain,
      pending,
    }
    switch (end) {
      case 'paused': {
        const { pause_code: code, pause_request_id: requestId } = row
        const words = [row.pause_message, row.pause_what_to_do].filter(Boolean).join(' ')
        log.warn(
          { ...counts, ...(code && { errorCode: code }), ...(requestId && { requestId }) },
          `An import is paused. ${words} \`ferry imports show ${row.id}\``,
        )
        return
      }
      case 'undecided':
        log.warn(
          counts,
          `An import waits for a decision about ${uncertain} rows: \`ferry imports show ${row.id}\`, then \`ferry imports resolve\`.`,
        )
        return
      default:
        log.info(counts, end === 'completed' ? 'An import is completed.' : 'An import was cancelled.')
    }
  }
}
