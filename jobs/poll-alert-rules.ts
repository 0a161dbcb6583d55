import { syncInventory } from '#src/inventory/sync.ts'
import { defineJob, ScheduledPayload } from './job.ts'

/** Keeps the alert rules of an account current. */
export const pollAlertRules = defineJob({
  name: 'poll-alert-rules',
  payload: ScheduledPayload,
  async run(context, request, { cutOff }) {
    const run = await syncInventory(context, { ...request, resource: 'alert-rules' }, cutOff)
    return { status: run.status, runs: [run] }
  },
})
