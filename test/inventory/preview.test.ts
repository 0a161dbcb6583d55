import { expect, test } from 'vitest'
import { previewSync, type SyncPreview } from '#src/inventory/preview.ts'
import { openWorld, type World } from '#test/support/world.ts'
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

async function preview(world: World, listed: readonly Listed[], keyHash = 'key'): Promise<SyncPreview> {
  const context = withAccounts(
    world,
    scriptedAccount('default', () => listed, keyHash),
  )
  return (await previewSync(context, { account: 'default', resource: 'alert-rules' }, NEVER)) as SyncPreview
}

test('a preview counts what a sync would do, shows how it differs, and does none of it', async () => {
  await using world = await openWorld(SMALL)
  await syncListed(world, [rules(upTo(20))])
  const listed = rules(upTo(21).slice(1)).map(rule => (rule.id === 2n ? { ...rule, name: 'renamed' } : rule))
  const broken = rules([30], { broken: 'with its id' })
  expect(await preview(world, [...listed, ...broken])).toMatchObject({
    seen: 21,
    added: 1,
    changed: 1,
    removed: 1,
    unchanged: 18,
    quarantined: 1,
    note: 'the removals need a second listing that agrees',
    samples: [
      { id: '21', change: 'added', fields: {} },
      { id: '2', change: 'changed', fields: { name: { before: 'rule 2', after: 'renamed' } } },
      { id: '1', change: 'removed' },
    ],
  })
  expect(await currentIds(world)).toEqual(upTo(20))
  expect(await world.query('select 1 from ferry.sync_runs')).toHaveLength(1)
})

test('a preview of an incomplete listing removes nothing, and says why', async () => {
  await using world = await openWorld(SMALL)
  await syncListed(world, [rules(upTo(20))])
  const [nameless] = rules([30], { broken: 'without an id' })
  expect(await preview(world, [...rules(upTo(19)), nameless!])).toMatchObject({
    removed: 0,
    note: expect.stringContaining('nothing would be removed'),
  })
})

test('a preview says that removals would be held, and that a new scope removes none', async () => {
  await using world = await openWorld(SMALL)
  await syncListed(world, [rules(upTo(20))])
  expect((await preview(world, rules([1]))).note).toContain('held for a person')
  expect((await preview(world, rules(upTo(19)), 'another key')).note).toContain('new scope')
  expect((await preview(world, rules(upTo(20)))).note).toBeNull()
})

test('of labels in another order a preview shows no difference, of a changed one it does', async () => {
  await using world = await openWorld({ rules: 2, servers: 0 })
  const [first] = world.sandbox.state.rules.rows()
  world.sandbox.state.changeRule(first!.id, { labels: { team: 'sre', area: 'edge' } })
  await world.sync()
  const look = async () =>
    (await previewSync(world.ferry, { account: 'default', resource: 'alert-rules' }, NEVER)) as SyncPreview
  world.sandbox.state.changeRule(first!.id, { labels: { area: 'edge', team: 'sre' }, name: 'renamed' })
  expect((await look()).samples.map(({ fields }) => Object.keys(fields))).toEqual([['name']])
  world.sandbox.state.changeRule(first!.id, { labels: { area: 'core', team: 'sre' } })
  expect((await look()).samples.map(({ fields }) => Object.keys(fields))).toEqual([['name', 'labels']])
})
