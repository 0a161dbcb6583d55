import type { Pool } from 'pg'
import type { Logger } from 'pino'
import { loadSummaryRow } from '#src/imports/reporting/summary.ts'
import { stepsOf } from '#src/imports/reporting/waits-for.ts'
import { stepsInWords } from '#src/model/next-step.ts'

/** Logs how the work on an import ended: one that is to go on is logged nowhere. */
export function createImportReport({
  pool,
  log,
}: {
  readonly pool: Pool
  readonly log: Logger
}): (importId: bigint) => Promise<void> {
  return async importId => {
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
    switch (status) {
      case 'paused': {
        const { pause_code: code, pause_request_id: requestId } = row
        const words = [row.pause_message, row.pause_what_to_do].filter(Boolean).join(' ')
        return log.warn(
          { ...counts, ...(code && { errorCode: code }), ...(requestId && { requestId }) },
          `An import is paused. ${words} \`ferry imports show ${row.id}\` says what to do.`,
        )
      }
      case 'undecided':
        return log.warn(
          counts,
          `An import waits for a decision about ${uncertain} rows: \`ferry imports show ${row.id}\` lists its batches. ${stepsInWords(stepsOf(row))}`,
        )
      case 'completed':
        return log.info(counts, 'An import is completed.')
      case 'cancelled':
        return log.info(counts, 'An import was cancelled.')
    }
  }
}
