import type { Pool } from 'pg'
import { expect, test } from 'vitest'
import type { ActedBy } from '#src/model/act.ts'
import { pauseSchedule, requestRun, resumeSchedule } from '#src/schedules/control.ts'
import { schedulesOf } from '#src/schedules/definition.ts'
import { changedBy } from '#test/support/changed-rows.ts'
import { openTestStore } from '#test/support/store.ts'

/* All that an action on a schedule changes in the database, and what the same action changes right after it. */

const SAM: ActedBy = { actor: 'sam', because: 'the platform is upgraded' }
const EVERY_MINUTE = {
  timing: { everyMs: 60_000 },
  beginsAtOnce: true,
  retryAfterMs: [],
  skippedAgainAfterMs: null,
} as const
const SCHEDULES = schedulesOf(
  [
    { ...EVERY_MINUTE, name: 'poll', perAccount: true },
    { ...EVERY_MINUTE, name: 'prune', perAccount: false },
  ],
  ['default', 'branch'],
)

const acted = (id: number, action: string, schedule: string, account: string) =>
  `+ audit ${id}: at a time, actor "sam", action "${action}", account "${account}", because "the platform is upgraded", subject_id "${schedule}", subject_kind "schedule"`

type Action = {
  readonly before?: (pool: Pool) => Promise<unknown>
  readonly act: (pool: Pool) => Promise<unknown>
  readonly first: readonly string[]
  readonly second: readonly string[]
}
const ACTIONS: Readonly<Record<string, Action>> = {
  'paused for one account': {
    act: pool => pauseSchedule(pool, SCHEDULES, 'poll', 'default', SAM),
    first: [
      '[{"schedule":"poll","account":"default"}]',
      acted(1, 'pause', 'poll', 'default'),
      '+ schedule_pauses poll default: paused_at a time',
    ],
    second: ['[{"schedule":"poll","account":"default"}]'],
  },
  'paused for all, of which one is paused': {
    before: pool => pauseSchedule(pool, SCHEDULES, 'poll', 'default', SAM),
    act: pool => pauseSchedule(pool, SCHEDULES, 'poll', undefined, SAM),
    first: [
      '[{"schedule":"poll","account":"default"},{"schedule":"poll","account":"branch"}]',
      acted(2, 'pause', 'poll', 'branch'),
      '+ schedule_pauses poll branch: paused_at a time',
    ],
    second: ['[{"schedule":"poll","account":"default"},{"schedule":"poll","account":"branch"}]'],
  },
  'resumed for one account': {
    before: pool => pauseSchedule(pool, SCHEDULES, 'poll', undefined, SAM),
    act: pool => resumeSchedule(pool, SCHEDULES, 'poll', 'branch', SAM),
    first: [
      '[{"schedule":"poll","account":"branch","wasPaused":true}]',
      acted(3, 'resume', 'poll', 'branch'),
      '- schedule_pauses poll branch',
    ],
    second: ['[{"schedule":"poll","account":"branch","wasPaused":false}]'],
  },
  'run for one account': {
    act: pool => requestRun(pool, SCHEDULES, 'poll', 'default', SAM),
    first: [
      '[{"key":{"schedule":"poll","account":"default"},"slot":a time}]',
      acted(1, 'run', 'poll', 'default'),
      '+ schedule_slots default poll a time: manual true, attempts 0, retry_at a time',
    ],
    second: [
      '[{"key":{"schedule":"poll","account":"default"},"slot":a time}]',
      acted(2, 'run', 'poll', 'default'),
      '+ schedule_slots default poll a time: manual true, attempts 0, retry_at a time',
    ],
  },
  'run for all': {
    act: pool => requestRun(pool, SCHEDULES, 'prune', undefined, SAM),
    first: [
      '[{"key":{"schedule":"prune","account":"*"},"slot":a time}]',
      acted(1, 'run', 'prune', '*'),
      '+ schedule_slots * prune a time: manual true, attempts 0, retry_at a time',
    ],
    second: [
      '[{"key":{"schedule":"prune","account":"*"},"slot":a time}]',
      acted(2, 'run', 'prune', '*'),
      '+ schedule_slots * prune a time: manual true, attempts 0, retry_at a time',
    ],
  },
}

test.each(Object.entries(ACTIONS))('%s: what the first one changes, and the second', async (_, action) => {
  await using store = await openTestStore()
  const { pool } = store
  await action.before?.(pool)
  const acted = () => changedBy(pool, () => action.act(pool))
  expect({ first: await acted(), second: await acted() }).toEqual({
    first: action.first,
    second: action.second,
  })
})
