import { workImport } from '#src/imports/work.ts'
import type { ImportJob } from '#src/queue/job.ts'

/** Sends an import, ten calls at a time if another waits: so those that share a limit share it fairly. */
export const importSubscribers: ImportJob = {
  name: 'import-subscribers',
  work: (ferry, importId, signals) => workImport(ferry, importId, { ...signals, yieldAfterCalls: 10 }),
}
