import { takeSnapshot } from '#src/inventory/snapshots.ts'
import { defineJob } from './job.ts'
import { ScheduledPayload } from './scheduled-payload.ts'

/** Takes a snapshot of both inventories of an account. */
export const snapshotInventory = defineJob({
  name: 'snapshot-inventory',
  payload: ScheduledPayload,
  run: (context, request, { cutOff }) => takeSnapshot(context, request, cutOff),
})
