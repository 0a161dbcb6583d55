import { afterAll, beforeAll, expect, test } from 'vitest'
import { fillSmallStory } from '#test/support/small-story.ts'
import { type Cli, openCli } from './open-cli.ts'
import { steady } from './steady.ts'

/* Every field of what commands print for programs, in its order, on the small story: as in whole-texts. */

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

const LINES: Readonly<Record<string, string>> = {
  'runs list --limit 2 --json': `
{"run":"6","account":"default","resource":"alert-rules","trigger":"manual","slot":null,"scope":{"folders":["0"],"keyHash":HASH,"includeAccount":null},"status":"held","requests":2,"pages":2,"seen":2,"added":0,"changed":0,"removed":0,"unchanged":2,"quarantined":0,"fired":0,"recovered":0,"message":"12 of 14 rows are gone from the listing; nothing was removed. See \`ferry runs show 6\`, then \`ferry runs approve 6\` or \`ferry runs reject 6\`.","startedAt":"THEN","finishedAt":"THEN","errorCode":null,"requestId":null}
{"run":"5","account":"default","resource":"alert-rules","trigger":"manual","slot":null,"scope":{"folders":["0"],"keyHash":HASH,"includeAccount":null},"status":"failed","requests":1,"pages":0,"seen":0,"added":0,"changed":0,"removed":0,"unchanged":0,"quarantined":0,"fired":0,"recovered":0,"message":"The platform answered Unauthorized (HTTP 401): The key is unknown. Check the app_key of account default (FERRY_APP_KEY); create a new one if it has expired.","startedAt":"THEN","finishedAt":"THEN","errorCode":"Unauthorized","requestId":"REQUEST"}
`,
  'runs show 5 --json': `
{"run":"5","account":"default","resource":"alert-rules","trigger":"manual","slot":null,"scope":{"folders":["0"],"keyHash":HASH,"includeAccount":null},"status":"failed","requests":1,"pages":0,"seen":0,"added":0,"changed":0,"removed":0,"unchanged":0,"quarantined":0,"fired":0,"recovered":0,"message":"The platform answered Unauthorized (HTTP 401): The key is unknown. Check the app_key of account default (FERRY_APP_KEY); create a new one if it has expired.","startedAt":"THEN","finishedAt":"THEN","errorCode":"Unauthorized","requestId":"REQUEST","quarantinedRows":[],"drift":[],"newValues":[],"heldIds":[],"heldLater":[],"heldByRun":null,"calls":[{"operation":"list-alert-rules","started":"THEN","finished":"THEN","httpStatus":401,"errorCode":"Unauthorized","requestId":"REQUEST"}],"held":[]}
`,
  'imports list --json': `
{"import":"2","account":"default","page":"99","status":"paused","read":4,"sent":2,"rejected":0,"duplicate":0,"suppressed":0,"alreadyImported":0,"uncertain":0,"pending":2,"batches":2,"requests":2,"durationMs":LONG,"file":"others.csv","createdAt":"THEN","finishedAt":null,"purgedAt":null}
{"import":"1","account":"default","page":"5750613685214","status":"running","read":6,"sent":1,"rejected":1,"duplicate":0,"suppressed":0,"alreadyImported":0,"uncertain":2,"pending":2,"batches":3,"requests":3,"durationMs":LONG,"file":"people.csv","createdAt":"THEN","finishedAt":null,"purgedAt":null}
`,
  'imports show 1 --json': `
{"import":"1","account":"default","page":"5750613685214","status":"running","read":6,"sent":1,"rejected":1,"duplicate":0,"suppressed":0,"alreadyImported":0,"uncertain":2,"pending":2,"batches":3,"requests":3,"durationMs":LONG}
{"file":"people.csv","method":"email","createdAt":"THEN","finishedAt":null,"purgedAt":null,"differences":[],"pause":null}
{"batch":"1","fromLine":"2","toLine":"3","rows":1,"state":"sent","resends":0,"uncertain":false,"calls":2,"claimedAt":"THEN","calledAt":"THEN","sentAt":"THEN","httpStatus":200,"errorCode":null,"requestIds":["req-2","req-1"],"message":null}
{"batch":"2","fromLine":"4","toLine":"5","rows":2,"state":"uncertain","resends":0,"uncertain":true,"calls":1,"claimedAt":"THEN","calledAt":"THEN","sentAt":null,"httpStatus":null,"errorCode":"NoAnswer","requestIds":[],"message":"The call got no complete answer: reset."}
{"kind":"rejected","origin":"platform","reason":"refused by the platform","rows":1}
`,
  'imports recipients 1 --json': `
{"import":"1","line":"2","recipient":"p2@example.com","state":"sent","reason":null,"message":null,"batch":"1","resends":0,"sentAt":"THEN","call":"14","requestId":"req-1"}
{"import":"1","line":"3","recipient":null,"state":"rejected","reason":"refused by the platform","message":"The platform answered InvalidParameter (HTTP 400): <recipient> are not valid.","batch":"1","resends":null,"sentAt":null,"call":null,"requestId":"req-2"}
{"import":"1","line":"4","recipient":"p4@example.com","state":"uncertain","reason":null,"message":null,"batch":"2","resends":0,"sentAt":null,"call":"15","requestId":null}
{"import":"1","line":"5","recipient":"p5@example.com","state":"uncertain","reason":null,"message":null,"batch":"2","resends":0,"sentAt":null,"call":"15","requestId":null}
{"import":"1","line":"6","recipient":"p6@example.com","state":"pending","reason":null,"message":null,"batch":null,"resends":null,"sentAt":null,"call":null,"requestId":null}
{"import":"1","line":"7","recipient":"p7@example.com","state":"pending","reason":null,"message":null,"batch":null,"resends":null,"sentAt":null,"call":null,"requestId":null}
`,
  'notify list --limit 2 --json': `
{"event":"5","kind":"import.paused","state":"raised","account":"default","subject":"2","at":"THEN","delivery":"waiting","deliveries":[{"receiver":"chat","delivery":"waiting","attempts":3,"retryAt":null,"failure":"it answered HTTP 500"},{"receiver":"ops","delivery":"delivered","attempts":1,"retryAt":null,"failure":null}]}
{"event":"4","kind":"removals.held","state":"raised","account":"default","subject":"alert-rules","at":"THEN","delivery":"delivered","deliveries":[{"receiver":"ops","delivery":"delivered","attempts":2,"retryAt":null,"failure":null}]}
`,
  'schedules list --json': `
{"name":"poll-alert-rules","account":"default","everyMs":60000,"cron":null,"timezone":null,"paused":false,"nextAt":"THEN","lastSlot":null,"lastOutcome":null}
{"name":"poll-mcp-servers","account":"default","everyMs":900000,"cron":null,"timezone":null,"paused":false,"nextAt":"THEN","lastSlot":null,"lastOutcome":null}
{"name":"snapshot-inventory","account":"default","everyMs":null,"cron":"30 3 * * *","timezone":"UTC","paused":true,"nextAt":null,"lastSlot":null,"lastOutcome":null}
{"name":"prune","account":"*","everyMs":null,"cron":"15 4 * * *","timezone":"UTC","paused":false,"nextAt":"THEN","lastSlot":null,"lastOutcome":null}
`,
  'rules show 1 --json': `
{"account":"default","id":"1","valid_from":"THEN","valid_to":null,"opened_by_run":"3","closed_by_run":null,"fingerprint":HASH,"account_id":"2451002751131","folder_id":"7","name":"Checkout p99 latency","labels":{"team":"payments"},"ds_type":"prometheus","enabled":true,"debug_log_enabled":false,"cron_pattern":"* * * * *","timezone":"America/New_York","delay_seconds":300,"creator_id":"2476444212348","creator_name":"Mateusz Nowak","updater_id":"8","updater_name":"Eve","created_at":UNIX,"updated_at":UNIX,"flags":null,"altered":null,"appeared":null,"team":"payments","triggered":false,"changes":[{"resource":"alert-rules","account":"default","name":"Checkout p99 latency","change":"changed","run":"3","rows":null,"id":"1","by":"Eve","at":"THEN","before":{"updater_id":"7","updater_name":"Ada","delay_seconds":0},"after":{"updater_id":"8","updater_name":"Eve","delay_seconds":300}},{"resource":"alert-rules","account":"default","name":"Checkout p99 latency","change":"first reading","run":"1","rows":null,"id":"1","by":null,"at":"THEN","before":null,"after":null}],"firings":[]}
`,
  'rules list --limit 1 --json': `
{"account":"default","id":"1","account_id":"2451002751131","folder_id":"7","name":"Checkout p99 latency","labels":{"team":"payments"},"ds_type":"prometheus","enabled":true,"debug_log_enabled":false,"cron_pattern":"* * * * *","timezone":"America/New_York","delay_seconds":300,"creator_id":"2476444212348","creator_name":"Mateusz Nowak","updater_id":"8","updater_name":"Eve","created_at":UNIX,"updated_at":UNIX,"triggered":false,"valid_from":"THEN","opened_by_run":"3","fingerprint":HASH,"flags":null,"altered":null}
`,
  'servers list --json': `
{"account":"default","server_id":"1","account_id":"2451002751131","team_id":"5120000000003","can_edit":true,"server_name":"Orders","description":"Repositories, issues and pull requests","transport":"stdio","url":"https://mcp.example.com/orders","status":"enabled","connect_timeout":10,"call_timeout":30,"tool_count":3,"tools":[{"name":"list_orders","description":"Does list_orders."}],"auth_mode":"shared","created_by":"2476444212565","created_at":UNIX,"updated_at":UNIX,"valid_from":"THEN","opened_by_run":"4","fingerprint":HASH,"flags":null,"altered":null}
`,
  'changes --since 7d --limit 2 --json': `
{"resource":"mcp-servers","account":"default","name":"Orders","change":"changed","run":"4","rows":null,"id":"1","by":null,"at":"THEN","before":{"tools":[{"name":"list_orders","description":"Does list_orders."},{"name":"refund_order","description":"Does refund_order."}]},"after":{"tools":[{"name":"list_orders","description":"Does list_orders."}]}}
{"resource":"alert-rules","account":"default","name":"Checkout p99 latency","change":"changed","run":"3","rows":null,"id":"1","by":"Eve","at":"THEN","before":{"updater_id":"7","updater_name":"Ada","delay_seconds":0},"after":{"updater_id":"8","updater_name":"Eve","delay_seconds":300}}
`,
  'audit --json': `
{"act":"3","at":"THEN","account":"default","actor":"sam@laptop","action":"pause","subjectKind":"schedule","subject":"snapshot-inventory","because":"the platform is upgraded","rows":null,"ofRows":null}
{"act":"2","at":"THEN","account":"default","actor":"ada@laptop","action":"confirm","subjectKind":"import","subject":"2","because":null,"rows":null,"ofRows":null}
{"act":"1","at":"THEN","account":"default","actor":"ada@laptop","action":"confirm","subjectKind":"import","subject":"1","because":null,"rows":null,"ofRows":null}
`,
  'freshness --json': `
{"account":"default","inventory":"alert-rules","lastCompleteAt":"THEN","lastCompleteRun":"6","ageMs":LONG,"targetMs":180000,"schedule":"poll-alert-rules","state":"late","whyLate":"no run","lastFailedRun":null,"errorCode":null,"requestId":null,"isAbandoned":false,"hasWorker":false,"keySetting":null,"message":"no worker has this account: start \`ferry worker\` with account default in its settings."}
{"account":"default","inventory":"mcp-servers","lastCompleteAt":"THEN","lastCompleteRun":"4","ageMs":LONG,"targetMs":180000,"schedule":"poll-alert-rules","state":"late","whyLate":"no run","lastFailedRun":null,"errorCode":null,"requestId":null,"isAbandoned":false,"hasWorker":false,"keySetting":null,"message":"no worker has this account: start \`ferry worker\` with account default in its settings."}
`,
}

test.each(Object.entries(LINES))('ferry %s', async (command, lines) => {
  const { stdout } = await cli.ferryRun(command)
  expect(`\n${steady(stdout)}`).toBe(lines)
})
