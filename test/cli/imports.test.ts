import { describe, expect, test } from 'vitest'
import { loadInstallation } from '#src/db/installation.ts'
import { leaseNameOf } from '#src/imports/page.ts'
import { findImport } from '#src/imports/sending/work.ts'
import { openRecipientHash } from '#src/imports/spellings.ts'
import type { ImportStatus } from '#src/model/import.ts'
import { putBatches } from '#test/support/batches.ts'
import { holdLease } from '#test/support/leases.ts'
import { stageRows } from '#test/support/staged.ts'
import { halfDone } from './half-done.ts'
import { openCli } from './open-cli.ts'
import { jsonLines, SUMMARY_KEYS } from './run-ferry.ts'

describe('ferry imports list', () => {
  test('shows the newest first, and says what to do if there is none', async () => {
    await using cli = await openCli()
    expect((await cli.ferryRun('imports list')).stdout).toContain('ferry import FILE')
    await halfDone(cli)
    await stageRows(cli.ferry.pool, { rows: 1200, pageId: 18446744073709551615n })
    const lines = jsonLines(await cli.ferryRun('imports list --json'))
    expect(lines).toMatchObject([
      { import: '2', page: '18446744073709551615', status: 'queued', pending: 1200, batches: 3 },
      { import: '1', account: 'default', status: 'undecided', read: 10, sent: 4, uncertain: 3, pending: 3 },
    ])
    expect(Object.keys(lines[0]!).slice(0, SUMMARY_KEYS.length)).toEqual(SUMMARY_KEYS)
    const { code, stdout } = await cli.ferryRun('imports list --limit 1')
    expect(code).toBe(0)
    expect(stdout).toMatch(/^ +2 +default +18446744073709551615 +queued +1,200/m)
    expect(stdout).not.toContain('undecided')
  })
})

describe('ferry imports show', () => {
  test('begins with the summary and continues with batches and reasons', async () => {
    await using cli = await openCli()
    await halfDone(cli)
    await cli.query(
      `insert into ferry.import_rejects (import_id, line, origin, reason, message)
       values (1, 12, 'file', 'no recipient', 'm')`,
    )
    await cli.query('update ferry.imports set read = 11, rejected = 1')
    const ended = await cli.ferryRun('imports show 1 --json')
    expect(ended.code).toBe(0)
    const [summary, about, ...more] = jsonLines(ended)
    expect(Object.keys(summary!)).toEqual(SUMMARY_KEYS)
    expect(summary).toMatchObject({ import: '1', read: 11, sent: 4, rejected: 1, uncertain: 3, pending: 3 })
    expect(about).toMatchObject({ file: 'test.csv', differences: [] })
    expect(more).toMatchObject([
      { batch: '1', fromLine: '2', toLine: '4', rows: 3, state: 'sent', calls: 1, requestIds: ['req-a'] },
      { batch: '2', state: 'uncertain', errorCode: 'InternalError', requestIds: ['req-b'] },
      { batch: '3', state: 'sent', resends: 1 },
      { kind: 'rejected', origin: 'file', reason: 'no recipient', rows: 1 },
    ])
    const { stdout } = await cli.ferryRun('imports show 1')
    expect(stdout).toMatch(/^ +1 +default +\d+ +undecided +11 +4 +1/m)
    expect(stdout).toMatch(/^ +2 +5-7 +3 +uncertain .*req-b$/m)
    expect(stdout).toMatch(/^ +1 +rejected +file +no recipient$/m)
  })

  test('exits 1 if the rows do not add up, and says by how much', async () => {
    await using cli = await openCli()
    await halfDone(cli)
    await cli.query('delete from ferry.import_recipients where line = 3')
    const { code, stderr } = await cli.ferryRun('imports show 1')
    expect(code).toBe(1)
    expect(stderr).toContain('import 1 does not add up: 10 rows were read, and 9 are accounted for')
    expect(stderr).toContain('sent: the rows give 3, the kept count is 4')
  })

  test('says why an import is paused, with the request_id and how to go on', async () => {
    await using cli = await openCli()
    await stageRows(cli.ferry.pool, { status: 'paused' })
    await cli.query(
      `update ferry.imports set pause_code = 'NoLicense', pause_request_id = 'req-9', pause_message = 'The platform \u001b[2J.',
         pause_what_to_do = 'Get it.'`,
    )
    const { stdout } = await cli.ferryRun('imports show 1')
    expect(stdout).toContain(
      'paused (NoLicense). The platform \ufffd[2J. Get it. `ferry imports resume 1` continues it, `ferry imports cancel 1` ends it. request_id req-9',
    )
  })
})

describe('ferry imports recipients', () => {
  test('says for everybody, or for one, when and in which call they were sent', async () => {
    await using cli = await openCli()
    await halfDone(cli)
    await cli.query(
      `insert into ferry.import_left_out (import_id, line, kind, reason, kept_line, recipient)
       values (1, 12, 'duplicate', 'the same recipient', 3, 'P3@example.com')`,
    )
    const all = jsonLines(await cli.ferryRun('imports recipients 1 --json'))
    expect(all).toHaveLength(11)
    const sent = { state: 'sent', batch: '1', sentAt: expect.stringMatching(/Z$/), requestId: 'req-a' }
    expect(all[1]).toEqual({
      import: '1',
      line: '3',
      recipient: 'p3@example.com',
      reason: null,
      message: null,
      resends: 0,
      call: '1',
      ...sent,
    })
    expect(all.map(row => row.state)).toEqual(
      ['sent', 'sent', 'sent', 'uncertain', 'uncertain', 'uncertain', 'sent'].concat([
        'pending',
        'pending',
        'pending',
        'duplicate',
      ]),
    )
    const one = await cli.ferryRun('imports recipients 1 P3@EXAMPLE.com')
    expect(one.code).toBe(0)
    expect(one.stdout.split('\n')).toEqual([
      expect.stringMatching(/^line +state +batch/),
      expect.stringMatching(/^3 +sent +1 .*req-a +p3@example.com$/),
      expect.stringMatching(/^12 +duplicate .*P3@example.com \(the same recipient: line 3\)$/),
      '',
    ])
    const nobody = await cli.ferryRun('imports recipients 1 x@example.com')
    expect(nobody).toMatchObject({ code: 1, stdout: '' })
    expect(nobody.stderr).not.toContain('x@example.com')
  })

  test('finds who was rejected, by the whole address, until the import is purged', async () => {
    await using cli = await openCli()
    await stageRows(cli.ferry.pool, { rows: 1, status: 'completed' })
    const rejected = [
      ['4', 'Ada@Example.com,xx'],
      ['5', 'aada@example.com,xx'],
      ['6', '{"email":"ada@example.com.au"}'],
      ['7', '{"email":"ada@example.com","locale":"xx"}'],
    ]
    for (const [line, raw] of rejected) {
      await cli.query(
        `insert into ferry.import_rejects (import_id, line, origin, reason, message, raw)
         values (1, $1, 'file', 'not a locale', 'such as en-US', $2)`,
        [line, raw],
      )
    }
    const { id: installation } = await loadInstallation(cli.ferry.pool)
    await cli.query(
      `insert into ferry.import_rejects (import_id, line, origin, reason, message, recipient_hash, request_id, raw)
       values (1, 9, 'platform', 'refused by the platform', '<recipient> bounces', $1, 'req-9', 'r')`,
      [openRecipientHash(installation, 'email')('ada@example.com')],
    )
    const why = 'not a locale: such as en-US'
    const found = await cli.ferryRun('imports recipients 1 ada@example.COM')
    expect(found.stdout.split('\n')).toEqual([
      expect.stringMatching(/^line +state/),
      expect.stringMatching(/^4 +rejected +ada@example.COM \(not a locale: such as en-US\)$/),
      expect.stringMatching(/^7 +rejected +ada@example.COM \(not a locale/),
      expect.stringMatching(
        /^9 +rejected +req-9 +ada@example.COM \(refused by the platform: <recipient> bounces\)$/,
      ),
      '',
    ])
    expect(jsonLines(await cli.ferryRun('imports recipients 1 aada@example.com --json'))).toMatchObject([
      {
        line: '5',
        state: 'rejected',
        recipient: 'aada@example.com',
        reason: 'not a locale',
        message: 'such as en-US',
      },
    ])
    const all = (await cli.ferryRun('imports recipients 1')).stdout
    expect(all).toMatch(/^4 +rejected +\(not a locale: such as en-US\)$/m)
    expect(all).not.toContain('purged')
    expect(all.split('\n').filter(line => line.includes(why))).toHaveLength(4)

    await cli.ferryRun('imports purge 1 --yes')
    const purged = await cli.ferryRun('imports recipients 1 ada@example.com')
    expect(purged.stdout).toMatch(/^9 +rejected +req-9 +purged \(refused/m)
    expect((await cli.ferryRun('imports recipients 1 aada@example.com')).stderr).toContain(
      'it was purged, so the rows',
    )
  })
})

describe('ferry imports watch', () => {
  test.each<[ImportStatus, { rejects?: true; pause_code?: string }, number]>([
    ['completed', {}, 0],
    ['completed', { rejects: true }, 3],
    ['paused', { pause_code: 'Unauthorized' }, 4],
    ['paused', { pause_code: 'NoLicense' }, 5],
    ['paused', {}, 5],
    ['undecided', {}, 5],
    ['cancelled', {}, 1],
  ])('of an import that is %s %j exits %i', async (status, { rejects, pause_code }, exit) => {
    await using cli = await openCli()
    await stageRows(cli.ferry.pool, { rows: 1, status })
    await cli.query('update ferry.imports set pause_code = $1', [pause_code ?? null])
    if (rejects) {
      await cli.query('update ferry.imports set read = 2, rejected = 1')
      await cli.query(
        `insert into ferry.import_rejects (import_id, line, origin, reason, message) values (1, 9, 'file', 'r', 'm')`,
      )
    }
    const ended = await cli.ferryRun('imports watch 1 --json')
    expect(ended.code).toBe(exit)
    const lines = jsonLines(ended)
    expect(lines.map(line => Object.keys(line))).toEqual([['progress'], SUMMARY_KEYS])
    expect(lines.at(-1)).toMatchObject({ status })
  })

  test('show says how far an import is, how long the rest takes, and why it waits', async () => {
    await using cli = await openCli()
    const id = await stageRows(cli.ferry.pool, { rows: 1000, batchRows: 100, status: 'running' })
    await putBatches(cli.ferry.pool, id, [{ lines: 500, state: 'sent' }])
    const { stdout } = await cli.ferryRun('imports show 1')
    expect(stdout).toContain('import 1 running: 500 of 1,000 rows (50 %), 1 of 6 batches. No worker is')
    const head = await findImport(cli.ferry.pool, id)
    await holdLease(cli.ferry.pool, leaseNameOf(head!))
    expect((await cli.ferryRun('imports show 1')).stdout).toMatch(
      /^import 1 running: 500 of 1,000 rows \(50 %\), \d+ m?s left, 1 of 6 batches/m,
    )
  })

  test('shows the progress until it ends, and Ctrl-C ends only the watching', async () => {
    await using cli = await openCli()
    const id = await stageRows(cli.ferry.pool, { rows: 4, status: 'running' })
    await using watching = cli.ferryStart('imports watch 1')
    await using detached = cli.ferryStart('imports watch 1 --json')
    await watching.printed(
      'import 1 running: 0 of 4 rows (0 %), 0 of 1 batch. No worker is processing this import: start `ferry worker`',
    )
    await detached.printed('"progress"')
    detached.child.kill('SIGINT')
    const left = await detached.ended
    expect(left.code).toBe(130)
    expect(left.stderr).toContain('import 1 continues. `ferry imports watch 1` shows its progress again.')
    expect(jsonLines(left).at(-1)).toMatchObject({ import: '1', status: 'running' })
    await putBatches(cli.ferry.pool, id, [{ lines: 4, state: 'sent' }])
    await cli.query(`update ferry.imports set status = 'completed', finished_at = clock_timestamp()`)
    const { code, stdout } = await watching.ended
    expect(code).toBe(0)
    expect(stdout).toContain('import 1 completed: 4 of 4 rows (100 %), 1 of 1 batch')
    expect(stdout).not.toContain('\u001b')
  })
})
