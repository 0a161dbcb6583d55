import { describe, expect, test } from 'vitest'
import { stageRows } from '#test/support/staged.ts'
import { halfDone } from './half-done.ts'
import { openCli } from './open-cli.ts'
import { jsonLines, SUMMARY_KEYS } from './run-ferry.ts'
import { canOpenTerminal, inTerminal, linesOf } from './terminal.ts'

describe('decisions', () => {
  test('pause, resume and cancel take effect and print the summary', async () => {
    await using cli = await openCli()
    await stageRows(cli.ferry.pool, { rows: 2 })
    const [paused] = jsonLines(await cli.ferryRun('imports pause 1 --json'))
    expect(Object.keys(paused!)).toEqual(SUMMARY_KEYS)
    expect(paused).toMatchObject({ import: '1', status: 'paused' })
    expect(await cli.ferryRun('imports pause 1')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^ferry: import 1 is paused: .*`ferry imports resume 1` continues it/),
    })
    expect(jsonLines(await cli.ferryRun('imports resume 1 --json'))).toMatchObject([{ status: 'queued' }])
    const cancelled = await cli.ferryRun('imports cancel 1 --yes')
    expect(cancelled).toMatchObject({ code: 0, stdout: 'Import 1: cancelled.\n' })
    expect(await cli.ferryRun('imports watch 1')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('2 rows not sent'),
    })
  })

  test('resume --wait changes nothing if the account of the import is not configured', async () => {
    await using cli = await openCli()
    await stageRows(cli.ferry.pool, { account: 'eu', status: 'paused' })
    const refused = await cli.ferryRun('imports resume 1 --wait')
    expect(refused).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining(
        'account eu, which is not configured here; the accounts here are: default',
      ),
    })
    expect(await cli.query('select status from ferry.imports')).toEqual([{ status: 'paused' }])
  })

  test('resolve decides about one batch or all, and purge removes the people of an import that is over', async () => {
    await using cli = await openCli()
    await halfDone(cli)
    await cli.query('delete from ferry.import_recipients where line > 8')
    await cli.query('update ferry.imports set read = 7, recipients = 7')
    expect(await cli.ferryRun('imports purge 1')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('still needed'),
    })
    expect(await cli.ferryRun('imports resolve 1 --as sent --batch 1')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('its batch 1 is not uncertain'),
    })
    expect((await cli.ferryRun('imports resolve 1 --as sent --batch 2')).stdout).toBe(
      'Import 1: 1 batch with 3 rows counted as sent. It is completed.\n',
    )
    expect((await cli.ferryRun('imports purge 1 --yes')).stdout).toBe(
      'Import 1: recipients removed from 7 rows.\n',
    )
    const { stdout } = await cli.ferryRun('imports recipients 1')
    expect(stdout).not.toContain('@')
    expect(stdout.match(/purged/g)).toHaveLength(7)
    expect(await cli.ferryRun('imports rejects 1')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('were purged'),
    })
  })

  test('resolve decides about a cancelled import too, and says how the rows are sent then', async () => {
    await using cli = await openCli()
    await halfDone(cli)
    expect((await cli.ferryRun('imports cancel 1 --yes')).code).toBe(0)
    expect((await cli.ferryRun('imports resolve 1 --as resend')).stdout).toBe(
      'Import 1: 1 batch with 3 rows to be sent again. It is cancelled: importing the file again sends them.\n',
    )
    expect(await cli.ferryRun('imports resolve 1 --as sent')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('import the file again: recipients that were sent are left out'),
    })
  })

  test('cancel and purge change nothing where nobody can be asked and --yes is missing', async () => {
    await using cli = await openCli()
    await stageRows(cli.ferry.pool, { rows: 2, status: 'paused' })
    await stageRows(cli.ferry.pool, { rows: 2, status: 'completed' })
    for (const command of ['cancel 1', 'cancel 1 --json', 'purge 2']) {
      expect(await cli.ferryRun(`imports ${command}`)).toMatchObject({
        code: 2,
        stdout: '',
        stderr: expect.stringMatching(/^ferry: nothing was changed, .* add --yes if you are sure\n$/),
      })
    }
    expect(await cli.query('select status, purged_at from ferry.imports order by id')).toEqual([
      { status: 'paused', purged_at: null },
      { status: 'completed', purged_at: null },
    ])
    // What is refused in any case is refused at once.
    expect(await cli.ferryRun('imports cancel 2')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('it has ended already'),
    })
    expect((await cli.ferryRun('imports purge 2 --yes')).code).toBe(0)
    expect((await cli.ferryRun('imports purge 2')).stdout).toBe('Import 2: recipients removed from 0 rows.\n')
  })

  test.skipIf(!canOpenTerminal)(
    'cancel and purge ask at a terminal, and only a clear yes is one',
    async () => {
      await using cli = await openCli()
      await stageRows(cli.ferry.pool, { rows: 1200, status: 'paused' })
      const statusOf = () => cli.query('select status, purged_at is not null as purged from ferry.imports')
      for (const answer of ['\n', 'no\n', 'yess\n']) {
        const kept = await inTerminal(['imports', 'cancel', '1'], cli.env, { input: answer })
        expect(kept.code).toBe(1)
        expect(kept.shown).toContain(
          'Cancel import 1? It has 1,200 rows left to send, and cannot be resumed. [y/N]',
        )
        expect(kept.shown).toContain('nothing was changed')
      }
      expect(await statusOf()).toEqual([{ status: 'paused', purged: false }])
      expect((await inTerminal(['imports', 'cancel', '1'], cli.env, { input: 'y\n' })).code).toBe(0)
      expect(await statusOf()).toEqual([{ status: 'cancelled', purged: false }])
      const asked = await inTerminal(['imports', 'purge', '1'], cli.env, { input: 'n\n' })
      expect(asked.shown).toContain(
        'Remove the recipients of import 1? Their addresses are removed for good. [y/N]',
      )
      expect(await statusOf()).toEqual([{ status: 'cancelled', purged: false }])
      expect((await inTerminal(['imports', 'purge', '1'], cli.env, { input: 'YES\n' })).code).toBe(0)
      expect(await statusOf()).toEqual([{ status: 'cancelled', purged: true }])
    },
  )

  test.skipIf(!canOpenTerminal)(
    'cancel and purge say before they ask what stays unknown, and which rows go with the recipients',
    async () => {
      await using cli = await openCli()
      await halfDone(cli)
      const asked = async (verb: string) =>
        linesOf(await inTerminal(['imports', verb, '1'], cli.env, { input: 'n\n', columns: 300 })).join('\n')
      expect(await asked('cancel')).toContain(
        'Cancel import 1? It has 3 rows left to send, and cannot be resumed. The outcome of 3 rows stays unknown. [y/N]',
      )
      await cli.ferryRun('imports cancel 1 --yes')
      await cli.ferryRun('imports resolve 1 --as sent --by ada')
      await cli.query('update ferry.imports set rejected = 1')
      expect(await asked('purge')).toContain(
        'Remove the recipients of import 1? Their addresses are removed for good, and so are the rejected rows (1 row). [y/N]',
      )
    },
  )

  test('about an import that does not exist exit 2', async () => {
    await using cli = await openCli()
    const commands = ['show', 'watch', 'recipients', 'rejects', 'pause', 'resume', 'resume --wait', 'cancel']
    for (const command of [...commands, 'purge', 'resolve --as sent']) {
      const [verb, ...more] = command.split(' ')
      const { code, stdout, stderr } = await cli.ferryRun(['imports', verb, '7', ...more].join(' '))
      expect({ command, code, stderr }).toEqual({
        command,
        code: 2,
        stderr: 'ferry: there is no import 7; `ferry imports list` shows them\n',
      })
      expect(stdout).toBe('')
    }
  })
})
