import { expect, test } from 'vitest'
import { resumeImport } from '#src/imports/control/resume.ts'
import type { FaultInput } from '#src/sandbox/faults.ts'
import { SANDBOX_PAGE_ID } from '#src/sandbox/state.ts'
import { ADA } from '#test/support/acted-by.ts'
import { type ImportHarness, openImportHarness, recipientsOf } from '../import-harness.ts'

/* The page is away for some calls, and every call is refused with 400 meanwhile, as if something were wrong with the rows. */

const error = (code: string, message: string): FaultInput => ({ kind: 'error', code, message })

/** The calls from `first` to `last` are answered so; a call with a wrong row is refused without a word about the row. */
function refuse(
  harness: ImportHarness,
  [first, last]: readonly [number, number],
  answer: () => FaultInput,
): void {
  harness.sandbox.state.onCall(async ({ body }) => {
    const recipients = recipientsOf(body)
    const n = harness.calls()
    if (n >= first && n <= last) return answer()
    return recipients.some(one => one.startsWith('wrong'))
      ? error('InvalidParameter', 'A subscriber is not valid.')
      : undefined
  })
}

async function workToItsEnd(harness: ImportHarness, id: bigint): Promise<string[]> {
  const pauses: string[] = []
  for (let end = await harness.work(id); ; end = await harness.work(id)) {
    if (end !== 'paused') return [...pauses, end]
    pauses.push((await harness.importRow(id)).pause_message ?? '')
    await resumeImport(harness.ferry.pool, id, ADA)
  }
}

const WRONG = [17, 44]
const recipient = (line: number) => `${WRONG.includes(line) ? 'wrong' : 'p'}${line}@example.com`

const answers: [what: string, () => FaultInput][] = [
  ['names the page', () => error('ResourceNotFound', `Status page ${SANDBOX_PAGE_ID} does not exist.`)],
  ['names the field page_id', () => error('InvalidParameter', 'page_id is not valid.')],
  ['names nothing', () => error('ResourceNotFound', 'The page does not exist.')],
  ['says what it says of a wrong row', () => error('InvalidParameter', 'A subscriber is not valid.')],
]
const cases = answers.slice(2).flatMap(([what, answer]) => [
  { what, answer, first: 9, calls: 9 },
  { what, answer, first: 5, calls: 25 },
])

test.for(cases)(
  'a page that is away for $calls calls from call $first on, with an answer that $what, costs no row that is right',
  async ({ answer, first, calls }) => {
    await using harness = await openImportHarness()
    const id = await harness.stage({ rows: 60, batchRows: 15, recipient })
    refuse(harness, [first, first + calls - 1], answer)
    const ends = await workToItsEnd(harness, id)
    expect(ends.at(-1)).toBe('completed')
    const rejects = await harness.rejects(id)
    expect(rejects.map(row => Number(row.line))).toEqual(WRONG)
    expect(harness.timesDelivered()).toEqual({ once: 58 })
  },
)

test.for(answers.slice(0, 2))('an answer that %s pauses the import at its first call', async ([, answer]) => {
  await using harness = await openImportHarness()
  const id = await harness.stage({ rows: 60, batchRows: 15 })
  refuse(harness, [2, 2], answer)
  expect(await harness.work(id)).toBe('paused')
  const { pause_what_to_do } = await harness.importRow(id)
  expect(pause_what_to_do).toContain('--page')
  const states = (await harness.batches(id)).map(batch => batch.state)
  expect(states).not.toContain('doubted')
})
