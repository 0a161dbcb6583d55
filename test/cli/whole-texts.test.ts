import { afterAll, beforeAll, expect, test } from 'vitest'
import { fillSmallStory } from '#test/support/small-story.ts'
import { type Cli, openCli } from './open-cli.ts'
import { steady } from './steady.ts'

/* The whole text that a command prints of a small story, on both streams, and its exit code: each word, column, order and unit. */

let cli: Cli
beforeAll(async () => {
  cli = await openCli({ rules: 0, servers: 0 })
  await fillSmallStory(cli)
})
afterAll(() => cli[Symbol.asyncDispose]())

const TEXTS: Readonly<Record<string, string>> = {
  'runs show 5': `
run  account  inventory  trigger  status  started  took  seen  added  changed  removed  quarantined  calls  error
  5  default  alert-rules  manual  failed  THEN  SHORT  0  0  0  0  0  1  Unauthorized

The platform answered Unauthorized (HTTP 401): The key is unknown. Check the app_key of account default (FERRY_APP_KEY); create a new one if it has expired.

Run 6 has listed the inventory completely since: nothing is left to do.

Calls
operation  started  took  HTTP  error  request_id
list-alert-rules  THEN  SHORT  401  Unauthorized  REQUEST
exit 0
`,
  'runs show 6': `
run  account  inventory  trigger  status  started  took  seen  added  changed  removed  quarantined  calls  error
  6  default  alert-rules  manual  held  THEN  SHORT  2  0  0  0  0  2

12 of 14 rows are gone from the listing; nothing was removed. See \`ferry runs show 6\`, then \`ferry runs approve 6\` or \`ferry runs reject 6\`.

Removals held: 12. \`ferry runs approve 6\` removes them, \`ferry runs reject 6\` keeps them.
id  name  folder  updated by
10  Nightly job 10  7  Ada
11  Nightly job 11  7  Ada
12  Nightly job 12  7  Ada
13  Nightly job 13  7  Ada
14  Nightly job 14  7  Ada
15  Nightly job 15  7  Ada
4  Nightly job 4  7  Ada
5  Nightly job 5  7  Ada
6  Nightly job 6  7  Ada
7  Nightly job 7  7  Ada
8  Nightly job 8  7  Ada
9  Nightly job 9  7  Ada

Calls
operation  started  took  HTTP  error  request_id
list-alert-rules  THEN  SHORT  200  REQUEST
list-alert-rules  THEN  SHORT  200  REQUEST
exit 0
`,
  'imports show 1': `
import  account  page  status  read  sent  rejected  duplicate  suppressed  already imported  uncertain  pending  batches  calls  took
  1  default  5750613685214  running  6  1  1  0  0  0  2  2  3  3  3 h N min

people.csv, by email; created THEN

import 1 running: 1 of 5 rows (20 %), 2 of 3 batches, 1 rejected, 2 uncertain. No worker is processing this import: start \`ferry worker\` if none is running.

Rows not sent, and why
rows  what  by  reason
  1  rejected  platform  refused by the platform

Batches
batch  lines  rows  state  calls  resends  sent  HTTP  error  request_id
  2  4-5  2  uncertain  1  0  NoAnswer
  1  2-3  1  sent  2  0  THEN  200  req-2 req-1
exit 0
`,
  'imports show 2': `
import  account  page  status  read  sent  rejected  duplicate  suppressed  already imported  uncertain  pending  batches  calls  took
  2  default  99  paused  4  2  0  0  0  0  0  2  2  2  SHORT

others.csv, by email; created THEN

paused. The platform answered Unauthorized (HTTP 401): No. Check the app_key of this account; create a new one if it has expired. \`ferry imports resume 2\` continues it, \`ferry imports cancel 2\` ends it. request_id req-2

Batches
batch  lines  rows  state  calls  resends  sent  HTTP  error  request_id
  4  4-5  2  ready  1  0  401  Unauthorized  req-2
  3  2-3  2  sent  1  0  THEN  200  req-1
exit 0
`,
  'schedules list': `
schedule  account  when  next  last  result
poll-alert-rules  default  every 1 min  THEN
poll-mcp-servers  default  every 15 min  THEN
snapshot-inventory  default  30 3 * * * UTC  paused
prune  all  15 4 * * * UTC  THEN
exit 0
`,
  freshness: `
account  inventory  last complete  age  target  state  why
default  alert-rules  THEN  3 h N min  3 min  late  no worker has this account: start \`ferry worker\` with account default in its settings.
default  mcp-servers  THEN  5 h N min  3 min  late  no worker has this account: start \`ferry worker\` with account default in its settings.
exit 3
`,
  'rules show 1': `
1 in account default
field  value
account  default
id  1
valid_from  THEN
valid_to
account_id  2451002751131
folder_id  7
name  Checkout p99 latency
labels  {"team":"payments"}
ds_type  prometheus
enabled  true
debug_log_enabled  false
cron_pattern  * * * * *
timezone  America/New_York
delay_seconds  300
creator_id  2476444212348
creator_name  Mateusz Nowak
updater_id  8
updater_name  Eve
created_at  UNIX
updated_at  UNIX
team  payments

What changed
change  name  what  by  when
changed  Checkout p99 latency  delay_seconds: 0 → 300  Eve  THEN
first reading  Checkout p99 latency  THEN

When it fired
Never seen firing.
exit 0
`,
  'servers show 1': `
1 in account default
field  value
account  default
server_id  1
valid_from  THEN
valid_to
account_id  2451002751131
team_id  5120000000003
can_edit  true
server_name  Orders
description  Repositories, issues and pull requests
transport  stdio
url  https://mcp.example.com/orders
status  enabled
connect_timeout  10
call_timeout  30
tool_count  3
tools  [{"name":"list_orders","description":"Does list_orders."}]
auth_mode  shared
created_by  2476444212565
created_at  UNIX
updated_at  UNIX

What changed
change  name  what  by  when
changed  MCP server Orders  tools.refund_order: "Does refund_order." → none  THEN
first reading  MCP server Orders  THEN
exit 0
`,
  'changes --since 7d': `
change  name  what  by  when
changed  MCP server Orders  tools.refund_order: "Does refund_order." → none  THEN
changed  Checkout p99 latency  delay_seconds: 0 → 300  Eve  THEN
removed  Search shard  THEN
first reading  1 MCP server of default  THEN
first reading  15 alert rules of default  THEN
ferry: these are older than their freshness target: alert-rules of account default (last read THEN), mcp-servers of account default (last read THEN). \`ferry freshness\` shows why.
exit 0
`,
  audit: `
when  who  did  to  rows  account  because
THEN  sam@laptop  pause  schedule snapshot-inventory  default  the platform is upgraded
THEN  ada@laptop  confirm  import 2  default
THEN  ada@laptop  confirm  import 1  default
exit 0
`,
}

test.each(Object.entries(TEXTS))('ferry %s', async (command, text) => {
  const { code, stdout, stderr } = await cli.ferryRun(command)
  expect(`\n${steady(stdout + stderr)}exit ${code}\n`).toBe(text)
})
