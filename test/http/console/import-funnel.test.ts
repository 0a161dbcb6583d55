import { expect, test } from 'vitest'
import { funnel } from '#src/http/console/pages/import-funnel.ts'
import type { ImportStatus } from '#src/model/import.ts'
import { stageRows } from '#test/support/staged.ts'
import { openConsoleHarness } from './console-harness.ts'
import { textOf } from './whole-text.ts'

test('the bar of an import has its parts beside each other, from its start to its end', async () => {
  await using harness = await openConsoleHarness()
  const { pool } = harness.ferry
  const id = await stageRows(pool, { rows: 60, batchRows: 20, status: 'completed' })
  await harness.query(
    `update ferry.imports set read = read + 41, duplicate = 40, rejected = 1 where id = ${id}`,
  )
  const { text } = await harness.page(`/imports/${id}`)
  const parts = [...text.matchAll(/<rect class="rows-[\w-]+" x="([\d.]+)" width="([\d.]+)"/g)].map(
    ([, x, width]) => ({ x: Number(x), width: Number(width) }),
  )
  expect(parts.length).toBeGreaterThanOrEqual(3)
  let end = 0
  for (const { x, width } of parts) {
    expect(x).toBeCloseTo(end, 0)
    expect(width).toBeGreaterThan(0)
    end = x + width
  }
  expect(end).toBeCloseTo(Number(/viewBox="0 0 (\d+) 22"/.exec(text)?.[1]), 0)
})

const COUNTS = {
  sent: 1,
  pending: 2,
  uncertain: 3,
  rejected: 4,
  duplicate: 5,
  suppressed: 6,
  alreadyImported: 7,
}
const draw = (status: ImportStatus, read: number, counts = COUNTS) =>
  `${funnel(7n, status, { ...counts, read } as never)}`

test.for<[ImportStatus, string]>([
  ['running', 'Still to be sent.'],
  ['cancelled', 'Not sent: the import was cancelled. Another import can send them.'],
])('the rows of an import that is %s are shown by outcome, with what each means', ([status, pending]) => {
  expect(textOf(draw(status, 28))).toBe(`Rows by outcome What Rows Share Meaning
Sent 1 4 % The platform has them.
Pending 2 7 % ${pending}
Uncertain 3 11 % The call got no definite answer.
Rejected 4 14 % Rejected when the file was checked, or by the platform.
Duplicate 5 18 % The recipient is also earlier in the file.
Suppressed 6 21 % Left out because of the file or --suppress.
Already imported 7 25 % Another import sent them to this page.
Sum 28 100 % 28 were read: every row is accounted for.`)
})

test.for([
  [29, '1 row of the file is unaccounted for'],
  [30, '2 rows of the file are unaccounted for'],
  [26, '2 rows too many'],
] as const)('that %i rows were read while there are 28 is a bug, and is said to be', ([read, what]) => {
  const page = draw('running', read)
  const notice = `(problem) The counts of this import do not add up: ${what}. This is a bug in Ferry. Please report it with the output of ferry imports show 7 --json .`
  expect(textOf(page).split('\n')[0]).toBe(notice)
  expect(textOf(page)).toContain(`${read} were read: this does not add up.`)
})

test('in the bar even one row of many can be seen, and parts without rows are left out', () => {
  const none = {
    sent: 0,
    pending: 0,
    uncertain: 0,
    rejected: 0,
    duplicate: 0,
    suppressed: 0,
    alreadyImported: 0,
  }
  const bar = /<figure class="funnel">(.*?)<\/figure>/s
  expect(bar.exec(draw('running', 10_000, { ...none, sent: 9_999, rejected: 1 }))?.[1]).toBe(
    '<svg role="img" aria-label="Sent 9,999, Rejected 1" viewBox="0 0 1000 22" preserveAspectRatio="none"><title>Sent 9,999, Rejected 1</title><rect class="rows-sent" x="0.0" width="996.0" height="22"/><rect class="rows-rejected" x="996.0" width="4.0" height="22"/></svg>',
  )
  expect(bar.exec(draw('running', 0, none))?.[1]).toBe('')
})
