import { describe, expect, test } from 'vitest'
import { BATCH_STATES, LEFT_OUT_KINDS, REJECT_ORIGINS } from '#src/imports/states.ts'
import { APPEARANCES, HOLD_OUTCOMES, SNAPSHOT_STATUSES } from '#src/inventory/states.ts'
import { ACTIONS, SUBJECT_KINDS } from '#src/model/act.ts'
import { DATABASE_CAUSES } from '#src/model/database-change.ts'
import { EVENT_KINDS, EVENT_STATES } from '#src/model/event.ts'
import { IMPORT_STATUSES, ON_UNCERTAIN } from '#src/model/import.ts'
import { RESOURCES } from '#src/model/resource.ts'
import { RUN_STATUSES, TRIGGERS } from '#src/model/run.ts'
import { openTestStore } from '#test/support/store.ts'

const CHECKED: Record<string, readonly string[]> = {
  'alert_rule_versions.appeared': APPEARANCES,
  'mcp_server_versions.appeared': APPEARANCES,
  'audit.action': ACTIONS,
  'audit.subject_kind': SUBJECT_KINDS,
  'audit.actor': [],
  'audit.because': [],
  'contract_drift.resource': RESOURCES,
  'database_changes.cause': DATABASE_CAUSES,
  'deliveries.kind': EVENT_KINDS,
  'events.kind': EVENT_KINDS,
  'events.state': EVENT_STATES,
  'import_batches.state': BATCH_STATES,
  'import_left_out.kind': LEFT_OUT_KINDS,
  'import_rejects.origin': REJECT_ORIGINS,
  'imports.on_uncertain': ON_UNCERTAIN,
  'imports.status': IMPORT_STATUSES,
  'freshness_targets.resource': RESOURCES,
  'removal_holds.outcome': HOLD_OUTCOMES,
  'removal_holds.resource': RESOURCES,
  'seen_values.resource': RESOURCES,
  'snapshots.status': SNAPSHOT_STATUSES,
  'sync_runs.resource': RESOURCES,
  'sync_runs.status': RUN_STATUSES,
  'sync_runs.trigger': TRIGGERS,
}

describe('the states that the database allows', () => {
  test('are those of the lists in TypeScript, and every row has one of them', async () => {
    await using store = await openTestStore()
    const { rows } = await store.pool.query<{ column: string; condition: string }>(
      `select relname || '.' || attname as column, pg_get_constraintdef(c.oid) as condition
       from pg_constraint c
       join pg_class t on t.oid = conrelid and relnamespace = 'ferry'::regnamespace
       join pg_attribute a on attrelid = conrelid and array[attnum] = conkey
       where contype = 'c' and convalidated and atttypid = 'text'::regtype`,
    )
    const allowed = rows.map(row => [
      row.column,
      [...row.condition.matchAll(/'([^']*)'::text/g)].map(([, v]) => v),
    ])
    expect(Object.fromEntries(allowed)).toEqual(CHECKED)
  })

  test('are the only ones that can be written', async () => {
    await using store = await openTestStore()
    const insert = (status: string) =>
      store.pool.query(
        `insert into ferry.snapshots (account, taken_at, status, alert_rules_run, mcp_servers_run)
         values ('a', now(), $1, 1, 1)`,
        [status],
      )
    await insert('held')
    await expect(insert('failed')).rejects.toThrow('snapshots_status')
  })
})
