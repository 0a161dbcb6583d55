import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { cancelImport, confirmImport } from '#src/imports/control/decide.ts'
import { resolveUncertain } from '#src/imports/control/resolve.ts'
import { reportImport } from '#src/imports/reporting/report.ts'
import { loadSummary } from '#src/imports/reporting/summary.ts'
import type { ImportOptions } from '#src/imports/staging/options.ts'
import { dryRun, stageImport } from '#src/imports/staging/stage.ts'
import type { StagingReport } from '#src/imports/staging/staging-report.ts'
import { SANDBOX_PAGE_ID } from '#src/sandbox/state.ts'
import { ADA } from '#test/support/acted-by.ts'
import {
  ACCEPTED,
  LOST,
  naming,
  openScriptedWorker,
  sendBatches,
  UNAVAILABLE,
} from '#test/support/scripted-worker.ts'
import { type ImportHarness, NEVER, openImportHarness } from '../import-harness.ts'
import { OPTIONS } from '../options.ts'

/** What is known of earlier imports before an import is confirmed. */

const OTHER_PAGE = 6_000_000_000_001n

type Person = readonly [recipient: string, settings?: string]

/** A file of people: `all` and `en-US` unless they have settings of their own. */
async function fileOf(people: readonly Person[]): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'ferry-sent-before-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  const path = join(directory, 'people.csv')
  const rows = people.map(([recipient, settings = 'true,,en-US']) => `${recipient},${settings}`)
  await writeFile(path, ['recipient,all,component_ids,locale', ...rows].join('\n'))
  return path
}

const named = (...names: readonly string[]) => names.map(name => [`${name}@example.com`] as const)

/** Imports people up to the end. */
async function imported(
  harness: ImportHarness,
  people: readonly Person[],
  options: Partial<ImportOptions> = {},
) {
  const path = await fileOf(people)
  const { import: id } = await stageImport(harness.ferry, path, optionsOf(options), { signal: NEVER })
  await confirmImport(harness.ferry.pool, id!, ADA)
  return { id: id!, end: await harness.work(id!) }
}

function optionsOf(options: Partial<ImportOptions>): ImportOptions {
  return { ...OPTIONS, pageId: SANDBOX_PAGE_ID, all: false, ...options }
}

/** A dry run says what the import then does, in every count; returns what it said. */
async function foretold(
  harness: ImportHarness,
  people: readonly Person[],
  options: Partial<ImportOptions> = {},
) {
  const said = await dryRun(harness.ferry, await fileOf(people), optionsOf(options), { signal: NEVER })
  const { id } = await imported(harness, people, options)
  const done = await loadSummary(harness.ferry.pool, id)
  const { read, rejected, duplicate, suppressed, alreadyImported, pending, batches } = said.summary
  expect(done).toMatchObject({ read, rejected, duplicate, suppressed, alreadyImported, sent: pending })
  expect(done.requests).toBe(batches)
  return said
}

test('who was sent already is counted before anybody is asked, and not among the samples', async () => {
  await using harness = await openImportHarness()
  await imported(harness, named('ann', 'bob', 'cy'))
  const people = [...named('ANN', 'bob', 'dee', 'eve', 'eve'), ['nobody'] as const]
  const said = await foretold(harness, people, { batchRows: 1 })
  expect(said.summary).toMatchObject({
    read: 6,
    rejected: 1,
    duplicate: 1,
    alreadyImported: 2,
    pending: 2,
    batches: 2,
  })
  expect(said.reasons).toContainEqual({ kind: 'already imported', reason: 'already imported', rows: 2 })
  expect(said.samples.map(sample => sample.recipient)).toEqual(['d…@example.com', 'e…@example.com'])
  expect(harness.timesDelivered()).toEqual({ once: 5 })
})

test('a staged import says the same as a dry run, and leaves nobody out before it starts', async () => {
  await using harness = await openImportHarness()
  await imported(harness, named('ann', 'bob'))
  const path = await fileOf(named('ann', 'bob', 'cy'))
  const [dry, staged] = [
    await dryRun(harness.ferry, path, optionsOf({}), { signal: NEVER }),
    await stageImport(harness.ferry, path, optionsOf({}), { signal: NEVER }),
  ]
  const counts = ({ summary: { import: _id, durationMs: _ms, ...counts } }: StagingReport) => counts
  expect(counts(staged)).toEqual(counts(dry))
  expect(await loadSummary(harness.ferry.pool, staged.import!)).toMatchObject({
    alreadyImported: 0,
    pending: 3,
  })
  // Somebody else was sent meanwhile: the exclusion that counts is that at the start.
  await imported(harness, named('cy'))
  await confirmImport(harness.ferry.pool, staged.import!, ADA)
  expect(await harness.work(staged.import!)).toBe('completed')
  expect(await loadSummary(harness.ferry.pool, staged.import!)).toMatchObject({ alreadyImported: 3, sent: 0 })
})

test('a file of nobody new says so', async () => {
  await using harness = await openImportHarness()
  await imported(harness, named('ann', 'bob'))
  const said = await foretold(harness, named('ann', 'bob'))
  expect(said.summary).toMatchObject({ alreadyImported: 2, pending: 0, batches: 0 })
  expect(said.warnings).toContain('No row of the file will be sent.')
  expect(said.samples).toEqual([])
})

test('who was rejected and never sent again is not in doubt, though others of that import were sent twice', async () => {
  await using harness = await openImportHarness()
  const { pool } = harness.ferry
  const people = named('bob', 'ann')
  await imported(harness, people)
  const german = people.map(([name]) => [name, 'true,,de-DE'] as const)
  const path = await fileOf(german)
  const options = optionsOf({ update: true, batchRows: 1, onUncertain: 'resend' })
  const { import: id } = await stageImport(harness.ferry, path, options, { signal: NEVER })
  await confirmImport(pool, id!, ADA)
  await sendBatches(pool, id!, [naming('bob@example.com'), LOST, ACCEPTED, naming('bob@example.com')])
  expect(await harness.work(id!)).toBe('completed')
  expect(await loadSummary(pool, id!)).toMatchObject({ rejected: 1, sent: 1 })
  const said = await foretold(harness, people, { update: true })
  expect(said.summary).toMatchObject({ alreadyImported: 1, pending: 1 })
})

test('only what was sent counts, by whatever import of the page, by this method, for this account', async () => {
  await using harness = await openImportHarness()
  harness.sandbox.state.subscribers.addPage(OTHER_PAGE)
  await imported(harness, named('ann'), { pageId: OTHER_PAGE })
  await imported(harness, named('bob'), { method: 'im' })
  await harness.stage({ account: 'eu', rows: 1, recipient: () => 'hal@example.com', status: 'completed' })
  const { id: half } = await imported(harness, named('cy', 'dee'), { firstRows: 1, batchRows: 1 })
  await cancelImport(harness.ferry.pool, half, ADA)
  await stageImport(harness.ferry, await fileOf(named('eve')), optionsOf({}), { signal: NEVER })
  harness.sandbox.state.inject(
    { kind: 'error', code: 'InvalidParameter', message: 'fay@example.com is bad' },
    { nth: 1 },
  )
  await imported(harness, named('fay', 'gus'))
  const said = await foretold(harness, named('ann', 'bob', 'cy', 'dee', 'eve', 'fay', 'gus', 'hal'))
  // Of those only cy and gus have been sent to this page.
  expect(said.summary).toMatchObject({ alreadyImported: 2, pending: 6 })
})

test('what was tried and not sent does not count: refused, held, or cancelled on its way', async () => {
  await using harness = await openImportHarness()
  const { pool } = harness.ferry
  const people = await fileOf(named('ann', 'bob', 'cy'))
  const options = optionsOf({ batchRows: 1, onUncertain: 'hold' })
  const { import: id } = await stageImport(harness.ferry, people, options, { signal: NEVER })
  await confirmImport(pool, id!, ADA)
  await using worker = await openScriptedWorker(pool, id!)
  const [refused, held] = [await worker.claim(), await worker.claim(), await worker.claim()]
  await worker.send(refused, UNAVAILABLE)
  await worker.send(held, LOST)
  await cancelImport(pool, id!, ADA)
  expect((await reportImport(pool, id!)).batches.map(batch => batch.state)).toEqual([
    'ready',
    'uncertain',
    'in flight',
  ])
  const said = await dryRun(harness.ferry, await fileOf(named('ann', 'bob', 'cy')), optionsOf({}), {
    signal: NEVER,
  })
  expect(said.summary).toMatchObject({ alreadyImported: 0, pending: 3 })
})

test('who may have been sent by another import is told before, and how it will end: held, or sent again', async () => {
  await using harness = await openImportHarness()
  const { pool } = harness.ferry
  const people = await fileOf(named('ann', 'bob', 'cy', 'dee'))
  /** An import of which two rows are uncertain, one is sent and one rejected. */
  const unsure = async (options: Partial<ImportOptions>) => {
    const { import: id } = await stageImport(harness.ferry, people, optionsOf({ ...options, batchRows: 1 }), {
      signal: NEVER,
    })
    await confirmImport(pool, id!, ADA)
    await using worker = await openScriptedWorker(pool, id!)
    const claims = [await worker.claim(), await worker.claim(), await worker.claim(), await worker.claim()]
    for (const [nth, answer] of [LOST, LOST, ACCEPTED, naming('dee@example.com')].entries()) {
      await worker.send(claims[nth]!, answer)
    }
    return id
  }
  const warningsOf = async (options: Partial<ImportOptions>, of = named('ann', 'bob', 'cy', 'dee', 'eve')) =>
    (await dryRun(harness.ferry, await fileOf(of), optionsOf(options), { signal: NEVER })).warnings
  const heldBy = (id: bigint | null) =>
    `2 of these recipients may have been sent by import ${id}; the outcome is unknown. This import would pause ` +
    `until a person decides: \`ferry imports resolve ${id} --as sent\`, or \`--as resend\`.`
  const held = heldBy(await unsure({ onUncertain: 'hold' }))
  expect(await warningsOf({})).toEqual([held])
  expect(await warningsOf({ update: true })).toEqual([held])
  expect(await warningsOf({}, named('dee', 'eve'))).toEqual([])

  const resent = await unsure({ pageId: OTHER_PAGE })
  expect(await warningsOf({ pageId: OTHER_PAGE, onUncertain: 'hold' })).toEqual([heldBy(resent)])
  expect(await warningsOf({ pageId: OTHER_PAGE })).toEqual([
    `2 of these recipients may have been sent by import ${resent}; the outcome is unknown. This import sends them ` +
      'again and counts them as resent.',
  ])
})

test('an update counts those whose settings were sent last, in whatever order components are named', async () => {
  await using harness = await openImportHarness()
  await imported(harness, [['ann@example.com', 'false,A|B,en-US'], ...named('bob', 'cy', 'dee')])
  await imported(harness, [['bob@example.com', 'true,,de-DE']], { update: true })
  const said = await foretold(
    harness,
    [
      ['ann@example.com', 'false,B|A,en-US'],
      ['bob@example.com', 'true,,en-US'],
      ['cy@example.com', 'true,,de-DE'],
      ['dee@example.com', 'true,,en-US'],
      ['eve@example.com', 'true,,en-US'],
    ],
    { update: true },
  )
  expect(said.summary).toMatchObject({ alreadyImported: 2, pending: 3 })
})

test('an update sends recipients again if the last outcome is unknown, and says so before', async () => {
  await using harness = await openImportHarness()
  await imported(harness, named('ann', 'bob'))
  harness.sandbox.state.inject({ kind: 'error', code: 'InternalError', applied: true }, { nth: 1 })
  harness.sandbox.state.inject({ kind: 'error', code: 'Unauthorized' }, { nth: 2 })
  const { id, end } = await imported(harness, [['ann@example.com', 'true,,de-DE']], { update: true })
  expect(end).toBe('paused')
  const said = await foretold(harness, named('ann', 'bob'), { update: true })
  expect(said.summary).toMatchObject({ alreadyImported: 1, pending: 1 })
  await resolveUncertain(harness.ferry.pool, id, 'sent', ADA)
})
