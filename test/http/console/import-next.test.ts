import { expect, test } from 'vitest'
import { reportImport } from '#src/imports/reporting/report.ts'
import type { ImportStatus } from '#src/model/import.ts'
import { putBatches } from '#test/support/batches.ts'
import { stageRows } from '#test/support/staged.ts'
import { openConsoleHarness } from './console-harness.ts'

/** The commands that a text for people names. */
function commandsIn(text: string): string[] {
  return [...text.matchAll(/(?:`|<code>)(ferry imports [^`<]*)(?:`|<\/code>)/g)].map(
    ([, command = '']) => command,
  )
}

test.for<[ImportStatus, string[]]>([
  ['staging', ['cancel']],
  ['queued', []],
  ['paused', ['resume', 'cancel']],
  ['undecided', ['resolve', 'resolve', 'cancel']],
  ['completed', ['rejects']],
  ['cancelled', []],
])(
  'the page of an import that is %s names the commands that `ferry imports show` does',
  async ([status, verbs]) => {
    await using harness = await openConsoleHarness()
    const { pool } = harness.ferry
    const id = await stageRows(pool, { status })
    await harness.query('update ferry.imports set read = read + 1, rejected = 1')
    const { next } = await reportImport(pool, id)
    const { text } = await harness.page(`/imports/${id}`)
    expect(commandsIn(text)).toEqual(commandsIn(next))
    expect(commandsIn(text).map(command => command.split(' ')[2])).toEqual(verbs)
    // Of a cancelled one nothing is sent any more.
    expect(text.includes('Still to be sent.')).toBe(status !== 'cancelled')
  },
)

test('the page of a paused import names each command once, also one that the advice of the pause names', async () => {
  await using harness = await openConsoleHarness()
  const { pool } = harness.ferry
  const id = await stageRows(pool, { status: 'paused', batchRows: 1 })
  await putBatches(pool, id, [{ state: 'uncertain' }])
  const sent = `ferry imports resolve ${id} --as sent`
  await harness.query(
    `update ferry.imports set pause_what_to_do = 'Say what arrived with \`${sent}\`, then resume.'`,
  )
  const { text } = await harness.page(`/imports/${id}`)
  expect(commandsIn(text)).toEqual([
    sent,
    `ferry imports resolve ${id} --as resend`,
    `ferry imports resume ${id}`,
    `ferry imports cancel ${id}`,
  ])
})

test('an import that is still read looks again as soon as one that is sent; one that waits to be confirmed takes its time', async () => {
  await using harness = await openConsoleHarness()
  const { pool } = harness.ferry
  const id = await stageRows(pool, { rows: 1, status: 'staging' })
  expect((await harness.page(`/imports/${id}`)).text).toContain('data-refresh="30000"')
  await pool.query('update ferry.imports set staged_at = null where id = $1', [id])
  expect((await harness.page(`/imports/${id}`)).text).toContain('data-refresh="10000"')
})
