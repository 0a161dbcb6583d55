import { syncInventory } from '#src/inventory/sync.ts'
import { defineJob, ScheduledPayload } from './job.ts'

/** Keeps the MCP servers of an account current by day. */
export const pollMcpServers = defineJob({
  name: 'poll-mcp-servers',
  payload: ScheduledPayload,
  async run(context, request, { cutOff }) {
    const run = await syncInventory(context, { ...request, resource: 'mcp-servers' }, cutOff)
    return { status: run.status, runs: [run] }
  },
})
