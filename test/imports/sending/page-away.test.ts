import { expect, test } from 'vitest'
import { resumeImport } from '#src/imports/control/decide.ts'
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
  answer: (recipients: readonly string[]) => FaultInput,
): void {
  harness.sandbox.state.onCall(async ({ body }) => {
    const recipients = recipientsOf(body)
    const n = harness.calls()
    if (n >= first && n <= last) return answer(recipients)
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

const answers: [what: string, (recipients: readonly string[]) => FaultInput][] = [
  ['names the page', () => error('ResourceNotFound', `Status page ${SANDBOX_PAGE_ID} does not exist.`)],
  ['names the field page_id', () => error('InvalidParameter', 'page_id is not valid.')],
  ['names nothing', () => error('ResourceNotFound', 'The page does not exist.')],
  ['says what it says of a wrong row', () => error('InvalidParameter', 'A subscriber is not valid.')],
  ['names a recipient', ([first]) => error('ResourceNotFound', `Nothing was found for ${first}.`)],
  ['names all recipients', all => error('BadRequest', `${all.join(', ')}: try again.`)],
]
const cases = answers.slice(3).flatMap(([what, answer]) => [
  { what, answer, first: 3, calls: 2 },
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

test.for(answers.slice(0, 3))('an answer that %s pauses the import at its first call', async ([, answer]) => {
  await using harness = await openImportHarness()
  const id = await harness.stage({ rows: 60, batchRows: 15 })
  refuse(harness, [2, 2], answer)
  expect(await harness.work(id)).toBe('paused')
  const { pause_what_to_do } = await harness.importRow(id)
  expect(pause_what_to_do).toContain('--page')
  const states = (await harness.batches(id)).map(batch => batch.state)
  expect(states).not.toContain('suspect')
})

test.for([1, 2, 3, 4, 5, 8])(
  'a page that goes away before the last %i rows costs none of them, and they are sent once it is back',
  async last => {
    await using harness = await openImportHarness()
    const id = await harness.stage({ rows: 15 + last, batchRows: 15 })
    refuse(harness, [2, Number.POSITIVE_INFINITY], () =>
      error('ResourceNotFound', 'The page does not exist.'),
    )
    expect(await harness.work(id)).toBe('paused')
    expect(await harness.rejects(id)).toEqual([])
    expect((await harness.importRow(id)).pause_what_to_do).toContain('No row was rejected')
    harness.sandbox.state.hook = null
    await resumeImport(harness.ferry.pool, id, ADA)
    expect(await harness.work(id)).toBe('completed')
    expect(harness.timesDelivered()).toEqual({ once: 15 + last })
  },
)

test('rows at the end of the file that are wrong are rejected if the platform takes the others of their batch', async () => {
  await using harness = await openImportHarness({}, { FERRY_REQUEST_TIMEOUT: '20s' })
  for (const wrong of [[16], [15, 16], [4, 16], [14, 15, 16]]) {
    const id = await harness.stage({
      rows: 15,
      recipient: line =>
        `${wrong.includes(line) ? 'wrong' : 'p'}${line}@${wrong.length}-${wrong[0]}.example.com`,
    })
    refuse(harness, [0, 0], () => error('ResourceNotFound', ''))
    expect(await harness.work(id)).toBe('completed')
    expect((await harness.rejects(id)).map(row => Number(row.line))).toEqual(wrong)
  }
})

test('a page that goes away after a wrong row costs no row of the same batch', async () => {
  await using harness = await openImportHarness()
  const id = await harness.stage({
    rows: 8,
    batchRows: 8,
    recipient: line => `${line === 2 ? 'wrong' : 'p'}${line}@example.com`,
  })
  refuse(harness, [0, 0], () => error('ResourceNotFound', ''))
  const own = harness.sandbox.state.hook!
  // The second half is sent only once the page has gone.
  harness.sandbox.state.onCall(async call => {
    const recipients = recipientsOf(call.body)
    return recipients.length <= 4 && recipients.some(one => /^p[6-9]@/.test(one))
      ? error('InvalidParameter', 'A subscriber is not valid.')
      : own(call)
  })
  expect(await harness.work(id)).toBe('paused')
  expect((await harness.rejects(id)).map(row => Number(row.line))).toEqual([2])
  harness.sandbox.state.onCall(own)
  await resumeImport(harness.ferry.pool, id, ADA)
  expect(await harness.work(id)).toBe('completed')
  expect(harness.timesDelivered()).toEqual({ once: 7 })
})

/** Five rows, of which the last is sent alone and refused. */
async function stageRefusedLast(harness: ImportHarness): Promise<bigint> {
  const id = await harness.stage({ rows: 5, batchRows: 4 })
  refuse(harness, [2, 2], () => error('InvalidParameter', 'A subscriber is not valid.'))
  expect(await harness.work(id)).toBe('paused')
  return id
}

test.for([
  [5, [6]],
  [6, [6, 7]],
  [1, [2]],
] as const)(
  'of %i rows those that are wrong and sent last (lines %j) are rejected once a person has resumed the import',
  async ([rows, wrong]) => {
    await using harness = await openImportHarness()
    const lines: readonly number[] = wrong
    const recipient = (line: number) => `${lines.includes(line) ? 'wrong' : 'p'}${line}@example.com`
    const id = await harness.stage({ rows, batchRows: 4, recipient })
    refuse(harness, [0, 0], () => error('ResourceNotFound', ''))
    expect(await harness.work(id)).toBe('paused')
    expect(await harness.rejects(id)).toEqual([])
    expect(await harness.importRow(id)).toMatchObject({
      pause_message: expect.stringMatching(/^Only rows are left that the platform refused/),
      pause_what_to_do: expect.stringContaining(
        'rows that are refused again with the same code are rejected',
      ),
    })
    await resumeImport(harness.ferry.pool, id, ADA)
    expect(await harness.work(id)).toBe('completed')
    expect(await harness.rejects(id)).toMatchObject(
      lines.map(line => ({
        line: `${line}`,
        error_code: 'InvalidParameter',
        message: expect.stringContaining('A subscriber is not valid.'),
      })),
    )
    expect([...harness.delivered().values()]).toEqual(Array(rows - lines.length).fill(1))
  },
)

test.for(answers.slice(0, 3))(
  'a row that was sent last is not rejected for an answer that %s, however often a person resumes',
  async ([, answer]) => {
    await using harness = await openImportHarness()
    const id = await stageRefusedLast(harness)
    refuse(harness, [3, Number.POSITIVE_INFINITY], answer)
    for (let resumed = 0; resumed < 5; resumed++) {
      await resumeImport(harness.ferry.pool, id, ADA)
      expect(await harness.work(id)).toBe('paused')
    }
    harness.sandbox.state.hook = null
    await resumeImport(harness.ferry.pool, id, ADA)
    expect(await harness.work(id)).toBe('completed')
    expect(harness.timesDelivered()).toEqual({ once: 5 })
  },
)

test('a row that was sent last is not rejected for another code than the first', async () => {
  await using harness = await openImportHarness()
  const id = await stageRefusedLast(harness)
  refuse(harness, [3, 3], () => error('BadRequest', 'A subscriber is not valid.'))
  await resumeImport(harness.ferry.pool, id, ADA)
  expect(await harness.work(id)).toBe('paused')
  expect(await harness.rejects(id)).toEqual([])
})
