import { describe, expect, test } from 'vitest'
import { recordWorker, SILENT_AFTER_MS } from '#src/db/workers.ts'
import { whyStuck } from '#src/imports/reporting/stuck.ts'
import type { ImportStatus } from '#src/model/import.ts'
import { saveFreshnessTargets } from '#src/reports/freshness-targets.ts'
import { ageImport } from '#test/support/age-import.ts'
import { FRESHNESS_TARGET } from '#test/support/freshness-target.ts'
import { ageRuns } from '#test/support/runs.ts'
import { fileHolding } from '#test/support/settings.ts'
import { stageRows } from '#test/support/staged.ts'
import { commandsIn, examine } from './examine.ts'
import { type Cli, openCli, syncAs } from './open-cli.ts'
import { jsonLines } from './run-ferry.ts'

describe('an import that waits for a person', () => {
  test.for([
    ['paused', 'A person paused it', ['ferry imports resume 1', 'ferry imports cancel 1']],
    [
      'undecided',
      'No definite answer came for 10 rows',
      ['ferry imports resolve 1 --as sent', 'ferry imports resolve 1 --as resend', 'ferry imports cancel 1'],
    ],
    [
      'staging',
      'Its file has been checked. Nothing is sent until you confirm it',
      ['ferry imports cancel 1'],
    ],
  ] as const)(
    'and is %s is named with the commands that go on, and exits 5',
    async ([status, why, commands]) => {
      await using cli = await openCli()
      await stageRows(cli.ferry.pool, { status })
      const { code, lines } = await examine(cli, 'imports')
      expect(lines).toMatchObject([
        { status: 'warn', found: expect.stringContaining(`is ${status}: ${why}`) },
      ])
      expect(commandsIn(lines[0]?.whatToDo)).toEqual(commands)
      expect(code).toBe(5)
      // Each is ready to be run: the first one decides.
      const decided = await cli.ferryRun(
        `${commands[0]?.replace('ferry ', '')}${status === 'staging' ? ' --yes' : ''}`,
      )
      expect(decided).toMatchObject({ code: 0, stderr: '' })
      expect((await examine(cli, 'imports')).lines.filter(line => line.found.includes(status))).toEqual([])
    },
  )

  test('says the same in `imports show` and in `imports list`', async () => {
    await using cli = await openCli()
    await stageRows(cli.ferry.pool, { status: 'undecided' })
    const commands = [
      'ferry imports resolve 1 --as sent',
      'ferry imports resolve 1 --as resend',
      'ferry imports cancel 1',
    ]
    const shown = await cli.ferryRun('imports show 1')
    expect(shown.stdout).toContain('No definite answer came for 10 rows')
    expect(commandsIn(shown.stdout)).toEqual(commands)
    const listed = await cli.ferryRun('imports list')
    expect(listed.stderr).toMatch(/^ferry: import 1 is undecided\. /)
    expect(commandsIn(listed.stderr)).toEqual(commands)
    expect((await cli.ferryRun('imports list --json')).stderr).toBe('')
  })

  test('of many names ten, and says how to see the others', async () => {
    await using cli = await openCli()
    for (let n = 0; n < 11; n++)
      await stageRows(cli.ferry.pool, { status: 'paused', rows: 1, pageId: BigInt(n + 1) })
    const { lines } = await examine(cli, 'imports')
    expect(lines.filter(line => line.found.includes('is paused'))).toHaveLength(10)
    expect(lines.at(-1)?.whatToDo).toContain('`ferry imports list --limit 1000`')
    const listed = await cli.ferryRun('imports list')
    expect(listed.stderr.split('\n').filter(line => line.includes('is paused'))).toHaveLength(5)
    expect(listed.stderr).toContain('6 more imports of these wait for a person')
  })

  test.for(['completed', 'cancelled'] as const)('is none that is %s', async status => {
    await using cli = await openCli()
    await stageRows(cli.ferry.pool, { status })
    const { code, lines } = await examine(cli, 'imports')
    expect(lines).toMatchObject([{ status: 'ok' }])
    expect(code).toBe(0)
  })
})

describe('an import that should go on by itself', () => {
  async function active(cli: Cli, by: string, status: ImportStatus = 'queued'): Promise<void> {
    const id = await stageRows(cli.ferry.pool, { status })
    await ageImport(cli.ferry.pool, id, by)
  }

  test('is a failure if no live worker has its account, and says what sends it', async () => {
    await using cli = await openCli()
    await active(cli, '1 minute')
    await recordWorker(cli.ferry.pool, 'w', null, ['another'])
    const { code, lines } = await examine(cli, 'imports')
    expect(lines).toMatchObject([
      {
        status: 'fail',
        found: 'import 1 of account default (10 rows left): no worker is processing it',
      },
    ])
    expect(commandsIn(lines[0]?.whatToDo)).toEqual(['ferry worker', 'ferry imports resume 1 --wait'])
    expect(code).toBe(1)
    expect((await cli.ferryRun('imports resume 1 --wait')).code).toBe(0)
    expect((await examine(cli, 'imports')).lines).toMatchObject([{ status: 'ok' }])
  })

  test('is a failure if nothing was sent for long, although a worker lives', async () => {
    await using cli = await openCli()
    await active(cli, '20 minutes', 'running')
    await recordWorker(cli.ferry.pool, 'w', null, ['default'])
    const { code, lines } = await examine(cli, 'imports')
    expect(lines).toMatchObject([
      { status: 'fail', found: expect.stringMatching(/\(10 rows left\): no row has been sent for 20 min/) },
    ])
    expect(commandsIn(lines[0]?.whatToDo)).toEqual(['ferry imports watch 1', 'ferry imports show 1'])
    expect(code).toBe(1)
  })

  test('is no failure while an older one of its page goes first', async () => {
    await using cli = await openCli()
    await active(cli, '20 minutes')
    await active(cli, '20 minutes')
    const { lines } = await examine(cli, 'imports')
    expect(lines).toMatchObject([{ found: expect.stringContaining('import 1 ') }])
  })

  const GOING = { id: '1', account: 'a', pending: 1, failures: 0, idleMs: 0, hasWorker: true }
  test.for([
    [{}, null],
    [{ hasWorker: false, idleMs: 9_999 }, null],
    [{ hasWorker: false, idleMs: 10_000 }, 'no worker'],
    [{ idleMs: 899_999 }, null],
    [{ idleMs: 900_000 }, 'no progress'],
    [{ idleMs: 900_000, failures: 2 }, 'no progress'],
    [{ failures: 1 }, 'calls fail'],
  ] as const)('is judged by its worker, its last row and its last calls: %j', ([of, why]) => {
    expect(whyStuck({ ...GOING, ...of })).toBe(why)
  })
})

describe('an inventory', () => {
  test('that is older than its freshness target is a failure, with why and the command that reads it', async () => {
    await using cli = await openCli({ rules: 1 })
    await cli.ferryRun('sync all')
    await saveFreshnessTargets(cli.ferry.pool, [{ ...FRESHNESS_TARGET, account: 'default', folders: ['0'] }])
    expect((await examine(cli, 'inventories')).lines).toMatchObject([{ status: 'ok' }])
    await ageRuns(cli.ferry.pool, '2 days')
    const { code, lines } = await examine(cli, 'inventories')
    expect(lines).toMatchObject([
      { status: 'fail', found: expect.stringMatching(/^account default, \S+: it was read 2 d ago/) },
    ])
    expect(commandsIn(lines[0]?.whatToDo).at(-1)).toMatch(/^ferry sync \S+ --account default$/)
    expect(code).toBe(1)
    await cli.ferryRun('sync all')
    expect((await examine(cli, 'inventories')).lines).toMatchObject([{ status: 'ok' }])
  })

  test('that was never read is a failure once a run of it failed', async () => {
    await using cli = await openCli()
    await saveFreshnessTargets(cli.ferry.pool, [{ ...FRESHNESS_TARGET, account: 'default', folders: ['0'] }])
    expect((await examine(cli, 'inventories')).lines).toMatchObject([{ status: 'warn' }])
    await syncAs(cli, 'default', { wrongKey: true })
    const { lines } = await examine(cli, 'inventories')
    expect(lines).toMatchObject([{ status: 'fail' }])
    expect(commandsIn(lines[0]?.whatToDo)).toEqual([
      'ferry runs show 1',
      'ferry sync alert-rules --account default',
    ])
  })
})

describe('workers', () => {
  const fallSilent = (cli: Cli) =>
    cli.query(`update ferry.workers set seen_at = clock_timestamp() - $1 * interval '1 ms'`, [
      SILENT_AFTER_MS + 1,
    ])

  test('that are not there are no fault as long as nothing is due', async () => {
    await using cli = await openCli()
    expect(await examine(cli, 'workers')).toMatchObject({ code: 0, lines: [{ status: 'ok' }] })
    await recordWorker(cli.ferry.pool, 'w', null, ['default'])
    await fallSilent(cli)
    expect(await examine(cli, 'workers')).toMatchObject({ code: 0, lines: [{ status: 'ok' }] })
  })

  test('that fell silent are named while work is due, and that none is alive is a failure', async () => {
    await using cli = await openCli()
    await stageRows(cli.ferry.pool)
    await recordWorker(cli.ferry.pool, 'w', null, ['default'])
    expect((await examine(cli, 'workers')).lines).toMatchObject([{ status: 'ok', found: '1 worker alive' }])
    await fallSilent(cli)
    const { code, lines } = await examine(cli, 'workers')
    expect(lines).toMatchObject([
      { status: 'warn', found: expect.stringContaining(`process ${process.pid}, has been silent since`) },
      {
        status: 'fail',
        found: 'work is due, but no worker is alive',
        whatToDo: expect.stringContaining('`ferry worker`'),
      },
    ])
    expect(code).toBe(1)
    await recordWorker(cli.ferry.pool, 'another', null, ['default'])
    expect((await examine(cli, 'workers')).lines.map(({ status }) => status)).toEqual(['warn', 'ok'])
  })

  test('that fell silent while no work is due are counted beside those that are alive', async () => {
    await using cli = await openCli()
    await recordWorker(cli.ferry.pool, 'one', null, ['default'])
    expect((await examine(cli, 'workers')).lines).toMatchObject([{ status: 'ok', found: '1 worker alive' }])
    await fallSilent(cli)
    await recordWorker(cli.ferry.pool, 'two', null, ['default'])
    expect((await examine(cli, 'workers')).lines).toMatchObject([
      { status: 'ok', found: '1 worker alive; 1 other went silent today' },
    ])
  })

  test('are all counted, and those that fell silent are named however many are alive', async () => {
    await using cli = await openCli()
    await stageRows(cli.ferry.pool)
    const start = (name: string, count: number) =>
      Promise.all(
        Array.from({ length: count }, (_, n) => recordWorker(cli.ferry.pool, `${name} ${n}`, null, [])),
      )
    await start('first', 21)
    await fallSilent(cli)
    await start('second', 25)
    const { lines } = await examine(cli, 'workers')
    expect(lines.map(({ status }) => status)).toEqual([...Array(21).fill('warn'), 'ok'])
    expect(lines.slice(-2)).toMatchObject([
      { found: '1 other worker has been silent for longer' },
      { found: '25 workers alive' },
    ])
  })
})

test('messages that a receiver did not accept are named, also where doctor knows no receiver', async () => {
  await using cli = await openCli()
  expect((await examine(cli, 'notifications')).lines).toEqual([])
  await cli.query(
    `with event as (
       insert into ferry.events (kind, state, account, subject, data) values ('import.paused', 'raised', 'default', '1', '{}') returning *
     )
     insert into ferry.deliveries (event, receiver, kind, account, subject, data, at, attempts, http_status, failure)
     select id, 'chat', kind, account, subject, data, at, 3, 500, 'HTTP 500' from event`,
  )
  const { lines } = await examine(cli, 'notifications')
  expect(lines).toMatchObject([{ status: 'warn', found: '1 message to chat waits to be sent again' }])
  expect(commandsIn(lines[0]?.whatToDo)).toContain('ferry notify list --undelivered')
})

test('a receiver that is to be told of an account that nobody knows is named, for it is told nothing', async () => {
  await using cli = await openCli()
  const receiver = (accounts: readonly string[]) => ({
    url: 'http://127.0.0.1:9/',
    format: 'slack',
    filter: { accounts },
  })
  const receivers = [
    { name: 'ops', ...receiver(['default']) },
    { name: 'chat', ...receiver(['default', 'defualt']) },
  ]
  const env = { FERRY_RECEIVERS_FILE: fileHolding({ receivers }) }
  const { stdout } = await cli.ferryRun('doctor --json', env)
  expect(jsonLines({ stdout }).find(({ check }) => check === 'notifications')).toMatchObject({
    status: 'warn',
    found: 'chat is to be told of account defualt, which is not known',
    whatToDo: expect.stringContaining('The accounts are default.'),
  })
})

test.each([
  [{}, 'warn', 'messages are sent, but not signed: webhook'],
  [{ FERRY_WEBHOOK_SECRET: `whsec_${'a'.repeat(32)}` }, 'ok', 'every message was accepted'],
  [{ FERRY_WEBHOOK_FORMAT: 'slack' }, 'ok', 'every message was accepted'],
])('whether messages are signed is said: %o', async (settings, status, found) => {
  await using cli = await openCli({}, { FERRY_WEBHOOK_URL: 'http://127.0.0.1:9/hook', ...settings })
  expect((await examine(cli, 'notifications')).lines).toMatchObject([{ status, found }])
})

test('a backfill that has not ended is named, with how far it is', async () => {
  await using cli = await openCli()
  expect((await examine(cli, 'backfills')).lines).toEqual([])
  await cli.ferry.pool.query(
    `insert into ferry.backfills (name, position, batches, finished_at) values ('ended', '9', 9, now()), ('half', '5', 5, null)`,
  )
  expect((await examine(cli, 'backfills')).lines).toMatchObject([
    {
      status: 'warn',
      found: expect.stringMatching(/^the backfill half has not ended: 5 batches done, the last at 20/),
    },
  ])
})
