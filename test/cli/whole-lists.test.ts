import { afterAll, beforeAll, expect, test } from 'vitest'
import { fillSmallStory } from '#test/support/small-story.ts'
import { type Cli, openCli } from './open-cli.ts'
import { steady } from './steady.ts'

/* The whole text of lists, of what doctor finds, and of decisions, on the small story: as in whole-texts. */

let cli: Cli
beforeAll(async () => {
  cli = await openCli({ rules: 0, servers: 0 })
  await fillSmallStory(cli)
  await cli.query(TOLD)
})
afterAll(() => cli[Symbol.asyncDispose]())

/** Messages about some of its events, of which two were delivered. */
const TOLD = `insert into ferry.deliveries (event, receiver, kind, account, subject, data, at, attempts, failure, delivered_at)
  select e.id, v.receiver, kind, account, subject, data, at, attempts, failure, case when failure is null then now() end
  from (values (5, 'chat', 3, 'it answered HTTP 500'), (5, 'ops', 1, null), (4, 'ops', 2, null), (2, 'chat', 9, 'it answered HTTP 404'))
    v (event, receiver, attempts, failure) join ferry.events e on e.id = v.event`

const whole = async (command: string) => {
  const { code, stdout, stderr } = await cli.ferryRun(command)
  // How long it fired ends with seconds, or not.
  const text = steady(stdout + stderr).replace(/(?<=^Refunds wait {2}).*?(?= {2}THEN)/m, 'SHORT')
  return `\n${text}exit ${code}\n`
}

const SHOWN: Readonly<Record<string, string>> = {
  'runs list': `
run  account  inventory  trigger  status  started  took  seen  added  changed  removed  quarantined  calls  error
  6  default  alert-rules  manual  held  THEN  SHORT  2  0  0  0  0  2
  5  default  alert-rules  manual  failed  THEN  SHORT  0  0  0  0  0  1  Unauthorized
  4  default  mcp-servers  manual  succeeded  THEN  SHORT  1  0  1  0  0  2
  3  default  alert-rules  manual  succeeded  THEN  SHORT  14  0  1  1  0  2
  2  default  mcp-servers  manual  succeeded  THEN  SHORT  1  1  0  0  0  4
  1  default  alert-rules  manual  succeeded  THEN  SHORT  15  15  0  0  0  1
exit 0
`,
  'imports list': `
import  account  page  status  read  sent  rejected  duplicate  suppressed  already imported  uncertain  pending  batches  calls  took  created  file
  2  default  99  paused  4  2  0  0  0  0  0  2  2  2  SHORT  THEN  others.csv
  1  default  5750613685214  running  6  1  1  0  0  0  2  2  3  3  3 h N min  THEN  people.csv
ferry: import 2 is paused. \`ferry imports resume 2\` continues it, \`ferry imports cancel 2\` ends it.
exit 0
`,
  'servers list': `
id  name  team  status  transport  tools  account
1  Orders  5120000000003  enabled  stdio  1  default
ferry: these are older than their freshness target: mcp-servers of account default (last read THEN). \`ferry freshness\` shows why.
exit 0
`,
  'rules show 2': `
2 in account default
field  value
account  default
id  2
valid_from  THEN
valid_to
account_id  2451002751131
folder_id  7
name  Refunds wait
labels  {"team":"payments"}
ds_type  elasticsearch
enabled  true
debug_log_enabled  false
cron_pattern  */10 8-20 * * 1-5
timezone
delay_seconds  60
creator_id  2476444212348
creator_name  Mateusz Nowak
updater_id  7
updater_name  Ada
created_at  UNIX
updated_at  UNIX
team  payments

What changed
change  name  what  by  when
first reading  Refunds wait  THEN

When it fired
began  ended
THEN  still firing
exit 0
`,
  'imports recipients 1': `
line  state  batch  sent  call  request_id  recipient
2  sent  1  THEN  14  req-1  p2@example.com
3  rejected  1  req-2  (refused by the platform: The platform answered InvalidParameter (HTTP 400): <recipient> are not valid.)
4  uncertain  2  15  p4@example.com
5  uncertain  2  15  p5@example.com
6  pending  p6@example.com
7  pending  p7@example.com
exit 0
`,
  'imports rejects 1': `
email,line,reason,message,request_id
p3@example.com,3,refused by the platform,The platform answered InvalidParameter (HTTP 400): <recipient> are not valid.,req-2
exit 0
`,
  'notify list': `
event  kind  state  account  about  at  message  attempts  failure
5  import.paused  raised  default  2  THEN  chat: waiting, ops: delivered  3  it answered HTTP 500
4  removals.held  raised  default  alert-rules  THEN  ops: delivered  2
3  mcp.tools.changed  raised  default  mcp-servers  THEN  waiting: no receiver is set  0
2  rule.removed  raised  default  alert-rules  THEN  chat: waiting  9  it answered HTTP 404
1  rule.changed  raised  default  alert-rules  THEN  waiting: no receiver is set  0
exit 0
`,
  'at 5h': `
Firing at THEN
rule  for  since  until  team  state
Refunds wait  SHORT  THEN  payments  not known: it fired before

1 h before and after, as observed
between  and  what  of  how  by
THEN  THEN  nothing was read  alert-rules of default
THEN  THEN  edited  Checkout p99 latency  delay_seconds: 0 → 300  Eve
THEN  THEN  began to fire  Refunds wait
  THEN  removed  Search shard
THEN  THEN  nothing was read  mcp-servers of default
THEN  THEN  MCP server changed  Orders  tools.refund_order: "Does refund_order." → none
THEN  THEN  MCP tool removed  refund_order of Orders  Does refund_order. →
THEN  THEN  nothing was read  alert-rules of default  error_code: Unauthorized
THEN  THEN  removals held  alert-rules of default  rows: 12
THEN  nothing was read  mcp-servers of default
ferry: nothing is known of 4 stretches of that time. \`ferry report blind_spots\` says why, for accounts with a schedule and after their first reading.
exit 0
`,
  'sync all --plan': `
default alert-rules: 2 seen, 0 added, 0 changed, 12 removed, 2 unchanged, 0 quarantined. Nothing was written.
  the removals would be held for a person
  id  name  folder  what  by
-  4  Nightly job 4  7
-  5  Nightly job 5  7
-  6  Nightly job 6  7
-  7  Nightly job 7  7
-  8  Nightly job 8  7
and 7 more (--all shows them)
default mcp-servers: 1 seen, 0 added, 0 changed, 0 removed, 1 unchanged, 0 quarantined. Nothing was written.
exit 0
`,
}

test.each(Object.entries(SHOWN))('ferry %s', async (command, text) => {
  expect(await whole(command)).toBe(text)
})

/** Of the server, each machine has its own. */
const OF_THE_SERVER = /^\w+ {2}(postgres|role|locks|reader|connections|clock) .*\n(?: .*\n)*/gm

test('ferry doctor', async () => {
  expect((await whole('doctor')).replaceAll(OF_THE_SERVER, '')).toBe(`
ok  configuration every setting is valid; accounts: default
ok  rights  this role has all the rights that Ferry needs
ok  database  it is the database that Ferry knew
warn  holds  account default, alert-rules: the removal of 12 rows waits for a decision
  \`ferry runs show 6\` lists them, \`ferry runs approve 6\` removes them, \`ferry runs reject 6\` keeps them.
warn  imports  import 2 of account default is paused: The platform answered Unauthorized (HTTP 401).
  Check the app_key of this account; create a new one if it has expired. \`ferry imports resume 2\` continues it, \`ferry imports cancel 2\` ends it.
FAIL  imports  import 1 of account default (2 rows left): no worker is processing it
  \`ferry worker\` starts a worker, \`ferry imports resume 1 --wait\` processes it here.
FAIL  inventories  account default, alert-rules: it was read 3 h N min ago, and should be read every 3 min
  no worker has this account: start \`ferry worker\` with account default in its settings. \`ferry sync alert-rules --account default\` reads it now.
FAIL  inventories  account default, mcp-servers: it was read 5 h N min ago, and should be read every 3 min
  no worker has this account: start \`ferry worker\` with account default in its settings. \`ferry sync mcp-servers --account default\` reads it now.
warn  schedules  snapshot-inventory of account default is paused
  \`ferry schedules resume snapshot-inventory --account default\` runs it again; \`ferry audit --action pause\` shows who paused it, and why.
FAIL  workers  work is due, but no worker is alive
  \`ferry up\` or \`ferry worker\` starts one.
warn  queue  the queue is in Postgres and has no tables there yet
  \`ferry migrate\` creates them, and so does \`ferry up\` or a \`ferry worker\` when it starts.
warn  notifications 2 messages to chat wait to be sent again
  \`ferry notify list --undelivered\` shows why; \`ferry notify test\` tries the receiver.
ok  platform  account default: the platform lists 1 MCP server (request_id REQUEST)
ok  platform  account default: the platform lists 2 alert rules (request_id REQUEST)
exit 5
`)
})

/** One after another, what a person decides and then sees. */
const DECIDED: readonly (readonly [string, string])[] = [
  [
    'schedules pause poll-mcp-servers --as eve --because maintenance',
    `
poll-mcp-servers (default): paused
exit 0
`,
  ],
  [
    'schedules resume poll-mcp-servers --as eve',
    `
poll-mcp-servers (default): resumed
exit 0
`,
  ],
  [
    'schedules resume poll-mcp-servers --as eve',
    `
poll-mcp-servers (default): it was not paused; it runs on schedule
exit 0
`,
  ],
  [
    'runs reject 6 --as eve',
    `
12 rows of run 6 stay as they were.
They are kept until the platform lists them again. If they turn out to be gone after all,
\`ferry sync\` with --accept-removals removes them.
exit 0
`,
  ],
  [
    'imports pause 1 --as eve',
    `
Import 1: paused. \`ferry imports resume 1\` continues it.
exit 0
`,
  ],
  [
    'imports cancel 2 --yes --as eve',
    `
Import 2: cancelled.
exit 0
`,
  ],
  [
    'imports purge 2 --yes --as eve',
    `
Import 2: recipients removed from 4 rows.
exit 0
`,
  ],
  [
    'imports recipients 2',
    `
line  state  batch  sent  call  request_id  recipient
2  sent  3  THEN  16  req-1  purged
3  sent  3  THEN  16  req-1  purged
4  pending  4  17  req-2  purged
5  pending  4  17  req-2  purged
exit 0
`,
  ],
  [
    'audit --as eve',
    `
when  who  did  to  rows  account  because
THEN  eve  purge  import 2  default
THEN  eve  cancel  import 2  default
THEN  eve  pause  import 1  default
THEN  eve  reject  run 6  12 of 12  default
THEN  eve  resume  schedule poll-mcp-servers  default
THEN  eve  pause  schedule poll-mcp-servers  default  maintenance
exit 0
`,
  ],
]

test.each(DECIDED)('then ferry %s', async (command, text) => {
  expect(await whole(command)).toBe(text)
})
