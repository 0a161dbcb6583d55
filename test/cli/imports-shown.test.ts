import { describe, expect, test } from 'vitest'
import { pauseImport } from '#src/imports/control/decide.ts'
import { ADA } from '#test/support/acted-by.ts'
import { putBatches } from '#test/support/batches.ts'
import { stageRows } from '#test/support/staged.ts'
import { halfDone } from './half-done.ts'
import { type Cli, openCli } from './open-cli.ts'
import { canOpenTerminal, inTerminal, linesOf } from './terminal.ts'

const LONG_REASON =
  'the component is not in the file that --components names: add a line for it there, or leave it out of the row, then import again'

const inOneLine = (shown: { shown: string }) => linesOf(shown).join(' ').replaceAll(/ +/g, ' ')

describe('what is shown is whole', () => {
  async function withLongReason(cli: Cli): Promise<void> {
    await halfDone(cli)
    await cli.query('update ferry.imports set read = 11, rejected = 1')
    await cli.query(
      `insert into ferry.import_rejects (import_id, line, origin, reason, message) values (1, 12, 'file', $1, 'm')`,
      [LONG_REASON],
    )
  }

  test('where it is read by a program', async () => {
    await using cli = await openCli()
    await withLongReason(cli)
    const { stdout, code } = await cli.ferryRun('imports show 1')
    expect(stdout).toMatch(new RegExp(`^ +1 +rejected +file +${LONG_REASON}$`, 'm'))
    expect(code).toBe(0)
  })

  test.skipIf(!canOpenTerminal)('at a terminal of 80 columns, over several lines if need be', async () => {
    await using cli = await openCli()
    await withLongReason(cli)
    const show = await inTerminal(['imports', 'show', '1'], cli.env)
    expect(inOneLine(show)).toContain(LONG_REASON)
    expect(linesOf(show)).toContainEqual(expect.stringMatching(/^uncertain +3$/))
    expect(inOneLine(show)).not.toContain('resent 0')
    const list = await inTerminal(['imports', 'list'], cli.env)
    expect(inOneLine(list)).toMatch(
      /import page status read sent rejected uncertain pending 1 \d+ undecided 11 4 1 3 3 /,
    )
    // A sentence that names commands stays whole, so that they can be copied.
    const tables = [...linesOf(show), ...linesOf(list)].filter(line => !line.includes('`ferry'))
    for (const line of tables) expect(line.length, line).toBeLessThanOrEqual(80)
    const wide = await inTerminal(['imports', 'list'], cli.env, { columns: 220 })
    expect(inOneLine(wide)).toContain('already imported')
  })

  test.skipIf(!canOpenTerminal)(
    'and a bar shows how much of an import is sent, and why it waits',
    async () => {
      await using cli = await openCli()
      const id = await stageRows(cli.ferry.pool, { rows: 1000, batchRows: 100, status: 'running' })
      await putBatches(cli.ferry.pool, id, [{ lines: 500, state: 'sent' }])
      const shown = await inTerminal(['imports', 'watch', '1'], cli.env, {
        once: '(50 %)',
        act: () => pauseImport(cli.ferry.pool, id, ADA),
      })
      expect(shown.code).toBe(5)
      expect(inOneLine(shown)).toContain(
        'import 1 running [############............] 500 of 1,000 rows (50 %)',
      )
      expect(inOneLine(shown)).toContain('1 of 6 batches')
      expect(inOneLine(shown)).toContain(
        'No worker is processing this import: start `ferry worker` if none is running.',
      )
      for (const line of linesOf(shown).filter(line => !line.startsWith('ferry:'))) {
        expect(line.length, line).toBeLessThanOrEqual(80)
      }
    },
  )
})
