import { expect, test } from 'vitest'
import { previewSync, type SyncPreview } from '#src/inventory/publish/preview.ts'
import { collectSamples } from '#src/inventory/publish/sample-differences.ts'
import { listRuns } from '#src/inventory/runs/list-runs.ts'
import { type FerryHarness, openFerryHarness } from '#test/support/ferry-harness.ts'
import {
  currentIds,
  type Listed,
  rules,
  scriptedAccount,
  syncListed,
  upTo,
  withAccounts,
} from './scripted-account.ts'

const SMALL = { rules: 0, servers: 0 }
const NEVER = new AbortController().signal

async function preview(
  harness: FerryHarness,
  listed: readonly Listed[],
  keyHash = 'key',
): Promise<SyncPreview> {
  const context = withAccounts(
    harness,
    scriptedAccount('default', () => listed, keyHash),
  )
  return (await previewSync(context, { account: 'default', resource: 'alert-rules' }, NEVER)) as SyncPreview
}

test('a preview counts what a sync would do, shows how it differs, and does none of it', async () => {
  await using harness = await openFerryHarness(SMALL)
  await syncListed(harness, [rules(upTo(20))])
  const listed = rules(upTo(21).slice(1)).map(rule => (rule.id === 2n ? { ...rule, name: 'renamed' } : rule))
  const broken = rules([30], { broken: 'with its id' })
  const nobody = { folder: 1n, by: null, firstReading: false, fields: {} }
  expect(await preview(harness, [...listed, ...broken])).toEqual({
    account: 'default',
    resource: 'alert-rules',
    requests: 1,
    seen: 21,
    added: 1,
    changed: 1,
    removed: 1,
    unchanged: 18,
    quarantined: 1,
    firstRead: 0,
    note: 'the removals need a second listing that agrees',
    samples: [
      { ...nobody, id: '21', change: 'added', name: 'rule 21' },
      {
        ...nobody,
        id: '2',
        change: 'changed',
        name: 'renamed',
        by: 'Ada',
        fields: { name: { before: 'rule 2', after: 'renamed' } },
      },
      { ...nobody, id: '1', change: 'removed', name: 'rule 1' },
    ],
  })
  expect(await currentIds(harness)).toEqual(upTo(20))
  expect(await listRuns(harness.ferry.pool, 2)).toHaveLength(1)
})

test('a preview names nobody for what a first reading finds or what only appears, and counts the former apart', async () => {
  await using harness = await openFerryHarness(SMALL)
  const old = { createdAtS: BigInt(Date.UTC(2024, 0, 1) / 1_000) }
  const first = await preview(harness, rules(upTo(7), old))
  expect(first).toMatchObject({ added: 7, firstRead: 7 })
  expect(first.samples).toHaveLength(5)
  for (const sample of first.samples) expect(sample).toMatchObject({ firstReading: true, by: null })
  await syncListed(harness, [rules([1], old)])
  const created = rules([2], { createdAtS: BigInt(Math.floor(Date.now() / 1_000)) })
  const second = await preview(harness, [...rules([1, 3], old), ...created])
  expect(second).toMatchObject({ added: 2, firstRead: 0 })
  expect(second.samples.map(({ id, by, firstReading }) => [id, by, firstReading])).toEqual([
    ['3', null, false],
    ['2', 'Ada', false],
  ])
})

test('a preview of an incomplete listing removes nothing, and says why', async () => {
  await using harness = await openFerryHarness(SMALL)
  await syncListed(harness, [rules(upTo(20))])
  const [nameless] = rules([30], { broken: 'without an id' })
  expect(await preview(harness, [...rules(upTo(19)), nameless!])).toMatchObject({
    removed: 0,
    note: expect.stringContaining('nothing would be removed'),
  })
})

test('a preview says that removals would be held, and that a new scope removes none', async () => {
  await using harness = await openFerryHarness(SMALL)
  await syncListed(harness, [rules(upTo(20))])
  const held = await preview(harness, rules([1]))
  expect(held.note).toContain('held for a person')
  expect(held.samples.map(({ id }) => id)).toHaveLength(5)
  expect((await preview(harness, rules(upTo(19)), 'another key')).note).toContain('new scope')
  expect((await preview(harness, rules(upTo(20)))).note).toBeNull()
})

test('samples are the first changes of each kind, without those of an attempt that was cut off', async () => {
  const samples = collectSamples<string>(2, row => (row.startsWith('read') ? 'first reading' : null))
  const write = (...rows: string[]) => {
    const versions = rows.map(row => ({
      id: row,
      row,
      flags: undefined,
      altered: [],
      written: { fingerprint: '', columns: () => '' },
    }))
    return samples.write({ added: versions, changed: versions, began: [], ended: [], bytes: 0 })
  }
  samples.mark()
  await write('first')
  samples.mark()
  await write('cut off', 'as well', 'read and cut off')
  samples.rewind()
  await write('read first', 'second', 'third')
  await write('read second', 'fourth', 'read third')
  const { added, read, changed, firstRead } = samples.first()
  expect(added.map(({ row }) => row)).toEqual(['first', 'second'])
  expect(read.map(({ row }) => row)).toEqual(['read first', 'read second'])
  expect(changed).toEqual(['first', 'read first'])
  expect(firstRead).toBe(3)
})

test('of labels in another order a preview shows no difference, of a changed one it does', async () => {
  await using harness = await openFerryHarness({ rules: 2, servers: 0 })
  const [first] = harness.sandbox.state.rules.rows()
  harness.sandbox.state.changeRule(first!.id, { labels: { team: 'sre', area: 'edge' } })
  await harness.sync()
  const look = async () =>
    (await previewSync(harness.ferry, { account: 'default', resource: 'alert-rules' }, NEVER)) as SyncPreview
  harness.sandbox.state.changeRule(first!.id, { labels: { area: 'edge', team: 'sre' }, name: 'renamed' })
  expect((await look()).samples.map(({ fields }) => Object.keys(fields))).toEqual([['name']])
  harness.sandbox.state.changeRule(first!.id, { labels: { area: 'core', team: 'sre' } })
  expect((await look()).samples.map(({ fields }) => Object.keys(fields))).toEqual([['name', 'labels']])
})
