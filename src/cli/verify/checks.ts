import type { Check } from '#src/db/verify.ts'
import { type CheckedLimit, callChecks, OUTBOX_CHECKS } from '#src/db/verify-calls.ts'
import { BATCH_CHECKS } from '#src/imports/reporting/verify-batches.ts'
import { DECISION_CHECKS } from '#src/imports/reporting/verify-decisions.ts'
import { ROW_CHECKS } from '#src/imports/reporting/verify-rows.ts'
import { HISTORY_CHECKS } from '#src/inventory/verify/history.ts'
import { HOLD_CHECKS } from '#src/inventory/verify/holds.ts'
import { RUN_CHECKS, SNAPSHOT_CHECKS } from '#src/inventory/verify/ledger.ts'
import { SCHEDULE_CHECKS } from '#src/schedules/verify.ts'

/** Every check, those of imports first: of all that may be wrong, people who are sent twice are the worst. */
export function allChecks(limits: readonly CheckedLimit[]): readonly Check[] {
  return [
    ...ROW_CHECKS,
    ...BATCH_CHECKS,
    ...DECISION_CHECKS,
    ...callChecks(limits),
    ...HISTORY_CHECKS,
    ...RUN_CHECKS,
    ...HOLD_CHECKS,
    ...SNAPSHOT_CHECKS,
    ...SCHEDULE_CHECKS,
    ...OUTBOX_CHECKS,
  ]
}
