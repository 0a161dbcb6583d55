import { takeSnapshot } from '#src/inventory/history/snapshots.ts'
import { defineJob, ScheduledPayload } from './job.ts'

/** Takes a snapshot of both inventories of an account. */
export const snapshotInventory = defineJob({
  name: 'snapshot-inventory',
  payload: ScheduledPayload,
  run: (context, request, { cutOff }) => takeSnapshot(context, request, cutOff),
})
