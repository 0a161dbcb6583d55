import { expect, test } from 'vitest'
import { approveRun, rejectRun } from '#src/inventory/holds/approve.ts'
import type { ActedBy } from '#src/model/act.ts'
import { changedBy } from '#test/support/changed-rows.ts'
import { openFerryHarness } from '#test/support/ferry-harness.ts'

/* All that a decision about held removals changes in the database, and what the same decision changes right after it. */

const SAM: ActedBy = { actor: 'sam', because: 'they moved' }
const NEVER = new AbortController().signal

/** An account of twelve rules, of which eleven are held. */
async function openHeld() {
  const harness = await openFerryHarness({ rules: 0, servers: 0 })
  const { state } = harness.sandbox
  for (let id = 1n; id <= 12n; id++)
    state.addRule({ id, name: `rule ${id}`, folder_id: 7n, labels: {}, triggered: false })
  await harness.sync()
  for (let id = 2n; id <= 12n; id++) state.removeRule(id)
  const held = await harness.sync()
  expect(held.status).toBe('held')
  return { ...harness, run: held.run }
}

test('an approval removes the rows, and the second one finds nothing', async () => {
  await using harness = await openHeld()
  const { ferry, run } = harness
  const approve = () => changedBy(ferry.pool, () => approveRun(ferry, run, SAM, NEVER))
  expect({ first: await approve(), second: await approve() }).toEqual({
    first: [
      '{"seen":1,"added":0,"changed":0,"removed":11,"unchanged":1,"quarantined":0,"status":"succeeded","requests":2,"errorCode":null,"requestId":null,"message":null,"account":"default","resource":"alert-rules","run":"3","durationMs":some}',
      '+ audit 1: at a time, actor "sam", action "sync", account "default", because "they moved", subject_id "3", subject_kind "run"',
      '+ audit 2: at a time, rows 11, actor "sam", action "approve", account "default", because "they moved", of_rows 11, subject_id "2", subject_kind "run"',
      '+ events 2: at a time, data {"run":"2","rows":11,"inventory":"alert-rules"}, kind "removals.held", state "resolved", account "default", is_open false, subject "alert-rules", message_id a key',
      '+ events 3: at a time, data {"run":"3","rules":11,"ruleIds":["2","3","4","5","6","7","8","9","10","11","12"],"inventory":"alert-rules"}, kind "rule.removed", state "raised", account "default", is_open false, subject "alert-rules", message_id a key',
      '+ platform_calls 4: run_id 3, account "default", started a time, finished a time, limit_key "account:default", operation "list-alert-rules", counted_by a time, request_id a key, http_status 200',
      '+ platform_calls 5: run_id 3, account "default", started a time, finished a time, limit_key "account:default", operation "list-alert-rules", counted_by a time, request_id a key, http_status 200',
      '+ sync_runs 3: seen 1, added 0, fired 0, guard "approved", pages 2, scope {"folders":["0"],"keyHash":a key,"includeAccount":null}, status "succeeded", account "default", changed 0, removed 11, trigger "manual", requests 2, resource "alert-rules", recovered 0, unchanged 1, applied_at a time, first_read 0, started_at a time, data_hashes [a key], finished_at a time, lease_token a key, quarantined 0, fingerprint_version 1',
      'alert_rule_versions default 10 a time: words "rule 10\\n{}" → null, valid_to null → a time, closed_by_run null → 3',
      'alert_rule_versions default 11 a time: words "rule 11\\n{}" → null, valid_to null → a time, closed_by_run null → 3',
      'alert_rule_versions default 12 a time: words "rule 12\\n{}" → null, valid_to null → a time, closed_by_run null → 3',
      'alert_rule_versions default 2 a time: words "rule 2\\n{}" → null, valid_to null → a time, closed_by_run null → 3',
      'alert_rule_versions default 3 a time: words "rule 3\\n{}" → null, valid_to null → a time, closed_by_run null → 3',
      'alert_rule_versions default 4 a time: words "rule 4\\n{}" → null, valid_to null → a time, closed_by_run null → 3',
      'alert_rule_versions default 5 a time: words "rule 5\\n{}" → null, valid_to null → a time, closed_by_run null → 3',
      'alert_rule_versions default 6 a time: words "rule 6\\n{}" → null, valid_to null → a time, closed_by_run null → 3',
      'alert_rule_versions default 7 a time: words "rule 7\\n{}" → null, valid_to null → a time, closed_by_run null → 3',
      'alert_rule_versions default 8 a time: words "rule 8\\n{}" → null, valid_to null → a time, closed_by_run null → 3',
      'alert_rule_versions default 9 a time: words "rule 9\\n{}" → null, valid_to null → a time, closed_by_run null → 3',
      'events 1: is_open true → false',
      'removal_holds 1: outcome null → "approved", ended_at null → a time',
    ],
    second: [
      'NothingToApprove: run 2 holds no removals: it is not a held run, or its hold was approved or rejected, or a later run found the rows again or looked at other folders. `ferry doctor` says what waits for a decision',
    ],
  })
})

test('a rejection keeps the rows, and the second one finds nothing', async () => {
  await using harness = await openHeld()
  const { ferry, run } = harness
  const reject = () => changedBy(ferry.pool, () => rejectRun(ferry, run, SAM))
  expect({ first: await reject(), second: await reject() }).toEqual({
    first: [
      '11',
      '+ audit 1: at a time, rows 11, actor "sam", action "reject", account "default", because "they moved", of_rows 11, subject_id "2", subject_kind "run"',
      '+ events 2: at a time, data {"run":"2","rows":11,"inventory":"alert-rules"}, kind "removals.held", state "resolved", account "default", is_open false, subject "alert-rules", message_id a key',
      'events 1: is_open true → false',
      'removal_holds 1: outcome null → "rejected", ended_at null → a time, rejected_by null → "sam", rejected_ids null → ["2","3","4","5","6","7","8","9","10","11","12"]',
    ],
    second: [
      'NothingToApprove: run 2 holds no removals: it is not a held run, or its hold was approved or rejected, or a later run found the rows again or looked at other folders. `ferry doctor` says what waits for a decision',
    ],
  })
})
