import { expect, test } from 'vitest'
import { listLeft } from '#src/cli/run-due/left.ts'
import { openFerryHarness } from '#test/support/ferry-harness.ts'
import { addRun } from '#test/support/runs.ts'
import { stageRows } from '#test/support/staged.ts'

const NOTHING = { due: [], later: [], imports: [] }

test('what is due is left undone, what another process does or what has to wait is no failure', async () => {
  await using harness = await openFerryHarness()
  const schedule = (schedule: string, account = 'default') => ({ schedule, account }) as never
  const left = await listLeft(harness.ferry, {
    ...NOTHING,
    due: [{ schedule: schedule('poll-alert-rules'), slot: { slot: new Date(), trigger: 'schedule' } }],
    later: [{ schedule: schedule('prune', '*'), slot: new Date(), freeInMs: 90_000 }],
  })
  expect(left).toEqual([
    {
      left: 'schedule',
      account: 'default',
      name: 'poll-alert-rules',
      text: 'poll-alert-rules of account default is due',
      exit: 3,
    },
    {
      left: 'schedule',
      account: '*',
      name: 'prune',
      text: 'prune of account * is under way elsewhere, or is tried again in 1 min 30 s',
      exit: 0,
    },
  ])
})

test('imports that could be sent here are left undone; those of others only count if they wait for a person', async () => {
  await using harness = await openFerryHarness()
  const { pool } = harness.ferry
  const free = await stageRows(pool, { rows: 3, pageId: 1n, status: 'running' })
  const taken = await stageRows(pool, { rows: 2, pageId: 2n })
  const paused = await stageRows(pool, { rows: 2, pageId: 3n, status: 'paused' })
  await stageRows(pool, { rows: 2, pageId: 4n, account: 'of another machine' })
  const named = (id: bigint) => ({ left: 'import', account: 'default', name: `${id}` })
  expect(await listLeft(harness.ferry, { ...NOTHING, imports: [free] })).toEqual([
    {
      ...named(taken),
      text: `import ${taken} of account default is queued: 2 rows to go; it waits for an older import of its page, or another process sends it`,
      exit: 0,
    },
    {
      ...named(free),
      text: `import ${free} of account default is running: 3 rows to go`,
      exit: 3,
    },
    {
      ...named(paused),
      text: `import ${paused} of account default is paused: \`ferry imports resume ${paused}\` continues it, \`ferry imports cancel ${paused}\` ends it.`,
      exit: 5,
    },
  ])
})

test('removals that wait for a decision and messages that wait are left, those of other machines are not', async () => {
  await using harness = await openFerryHarness(
    {},
    { FERRY_WEBHOOK_URL: 'http://127.0.0.1:9/', FERRY_WEBHOOK_FORMAT: 'slack' },
  )
  for (const account of ['default', 'of another machine']) {
    const run = await addRun(harness.ferry.pool, { account, end: { status: 'held' } })
    await harness.query(
      `insert into ferry.removal_holds (account, resource, opened_by_run, last_run, ids, since_runs)
       values ($1, 'alert-rules', $2, $2, '{1,2}', array[$2::bigint, $2])`,
      [account, run],
    )
  }
  await harness.query(
    `with e as (
       insert into ferry.events (kind, state, account, subject, data, routed_at)
       values ('import.paused', 'raised', 'default', '1', '{}', now()) returning *
     )
     insert into ferry.deliveries (event, receiver, kind, account, subject, data, at, attempts, failure)
     select id, 'webhook', kind, account, subject, data, at, 1, 'no' from e`,
  )
  expect(await listLeft(harness.ferry, NOTHING)).toEqual([
    {
      left: 'removals',
      account: 'default',
      name: '1',
      text: 'the removal of 2 alert-rules of account default waits for a decision: `ferry runs show 1`',
      exit: 5,
    },
    {
      left: 'messages',
      account: null,
      name: null,
      text: '1 message to webhook waits to be sent again: `ferry notify list --undelivered`',
      exit: 3,
    },
  ])
})
