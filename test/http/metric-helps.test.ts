import { expect, test } from 'vitest'
import { fillSmallStory } from '#test/support/small-story.ts'
import { addSnapshot } from '#test/support/snapshots.ts'
import { openHttpHarness } from './http-harness.ts'

/** What each metric of Ferry itself says that it is, in the order of a scrape. */
const HELPS: Readonly<Record<string, string>> = {
  ferry_runs_total: 'Runs that ended in this process.',
  ferry_run_duration_seconds: 'How long runs took in this process.',
  ferry_rows_total: 'Rows that runs of this process listed.',
  ferry_changes_total: 'Rows that runs of this process added, changed or removed (status).',
  ferry_calls_total:
    'Calls of this process to the platform, by HTTP status ("none": no answer) and error code ("none": accepted).',
  ferry_call_duration_seconds: 'From the beginning of a call until its answer was read.',
  ferry_limit_wait_seconds_total: 'How long calls of this process waited for a limit.',
  ferry_token_failures_total:
    'Tokens that this process did not accept: wrong ones, and those not compared after too many wrong ones (braked).',
  ferry_database_up: '1 if the gauges of the database could be read within 2 s.',
  ferry_queue_waiting: 'Wake-ups that wait in a queue. Absent if the queue does not answer.',
  ferry_database_clock_timestamp_seconds:
    'The clock of the database when these gauges were read; they are read every 10 s at most.',
  ferry_inventory_last_complete_timestamp_seconds:
    'When the last complete listing of an inventory began to be read.',
  ferry_inventory_freshness_target_seconds:
    'Freshness target of an inventory: how old it may be, by the settings of the workers.',
  ferry_night_target_seconds:
    'How old the last snapshot of an account may be before a night is missed, by the settings of the workers.',
  ferry_inventory_fresh:
    '1 if an inventory is within its freshness target, 0 if it is late or was never listed completely. Absent without a freshness target.',
  ferry_snapshot_last_timestamp_seconds:
    'When the last snapshot of an account was taken, at night or by hand.',
  ferry_held_removals: 'Rows whose removal waits for a decision.',
  ferry_quarantined_rows: 'Rows that the last run of an inventory could not read.',
  ferry_imports: 'Imports by status.',
  ferry_import_rows: 'Rows of all imports by state (status). Rows of cancelled imports are not pending.',
  ferry_schedule_next_timestamp_seconds:
    'When the next slot of a schedule is due that no worker has taken. A time in the past means that no worker takes it.',
  ferry_limit_used_ratio: 'Share of the allowed calls that is used now, in the fullest window: 0 to 1.',
  ferry_limit_closed_until_timestamp_seconds:
    'Until when an operation waits because the platform answered 429, or another database was noticed. Absent while it is open.',
  ferry_refused:
    '1 if the platform refused the last call of an operation for its key, licence, balance or permission (401, 402, 403), a quarter of an hour ago at most. Absent as soon as one is accepted.',
  ferry_table_size_bytes: 'Size of a table on disk, with its indexes.',
}

test('each metric says what it is, and where something of each kind was done none is absent', async () => {
  await using harness = await openHttpHarness({}, { rules: 0, servers: 0 })
  await fillSmallStory(harness)
  await addSnapshot(harness.ferry.pool, 'default', '2026-01-03T03:30:00Z')
  await harness.query(
    `insert into ferry.schedule_slots (account, schedule, slot, done_at) values ('default', 'poll-alert-rules', now(), now())`,
  )
  await harness.query(`update ferry.platform_limits set blocked_until = now() + interval '1 minute'`)
  await harness.query(
    `insert into ferry.platform_calls (limit_key, account, operation, started, counted_by, finished, http_status, error_code)
     values ('default', 'default', 'list-alert-rules', now(), now(), now(), 401, 'Unauthorized')`,
  )
  const { text } = await harness.get('/metrics')
  const found = [...text.matchAll(/^# HELP (\S+) (.*)$/gm)].map(([, name = '', help = '']) => [name, help])
  const ours = Object.fromEntries(found.filter(([name]) => !/^ferry_(nodejs|process)_/.test(name ?? '')))
  expect(ours).toEqual(HELPS)
})
