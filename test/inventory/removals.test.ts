import { expect, test } from 'vitest'
import { approveRun, NothingToApprove } from '#src/inventory/holds/approve.ts'
import { syncInventory } from '#src/inventory/sync.ts'
import { ADA } from '#test/support/acted-by.ts'
import { type FerryHarness, openFerryHarness } from '#test/support/ferry-harness.ts'

const NEVER = new AbortController().signal

function rulesOf(harness: FerryHarness) {
  return [...harness.sandbox.state.rules.rows()]
}

async function currentIds(harness: FerryHarness): Promise<string[]> {
  return (await harness.query<{ id: string }>('select id from ferry.alert_rules order by id')).map(
    row => row.id,
  )
}

test('nothing is removed unless a second listing agrees', async () => {
  await using harness = await openFerryHarness()
  await harness.sync()
  const [flickering, gone] = rulesOf(harness)
  harness.sandbox.state.removeRule(flickering!.id)
  harness.sandbox.state.removeRule(gone!.id)
  let calls = 0
  harness.sandbox.state.onCall(() => {
    if (++calls === 2) harness.sandbox.state.addRule(flickering!)
    return undefined
  })
  expect(await harness.sync()).toMatchObject({ status: 'succeeded', removed: 1, requests: 2 })
  expect(await currentIds(harness)).toContain(`${flickering!.id}`)
  expect(await currentIds(harness)).not.toContain(`${gone!.id}`)
})

test('a second listing that fails makes the run partial: what the first brought is applied, nothing is removed', async () => {
  await using harness = await openFerryHarness()
  await harness.sync()
  harness.sandbox.state.removeRule(rulesOf(harness)[0]!.id)
  harness.sandbox.state.addRule({ name: 'new' })
  let calls = 0
  harness.sandbox.state.onCall(() => (++calls >= 2 ? { kind: 'error', code: 'AccessDenied' } : undefined))
  const result = await harness.sync()
  expect(result).toMatchObject({ status: 'partial', added: 1, removed: 0, errorCode: 'AccessDenied' })
  expect(result.requestId).toBeTruthy()
  harness.sandbox.state.onCall(null)
  expect(await harness.sync()).toMatchObject({ status: 'succeeded', removed: 1 })
})

test('a listing suddenly empty removes nothing and waits for a person', async () => {
  await using harness = await openFerryHarness({ rules: 3 })
  await harness.sync()
  harness.sandbox.state.replaceRulesBody('[]')
  expect(await harness.sync()).toMatchObject({ status: 'held', removed: 0, seen: 0 })
  expect(await currentIds(harness)).toHaveLength(3)
})

test('more than the guard allows is held, and the rest of the run applied', async () => {
  await using harness = await openFerryHarness({ rules: 60 })
  await harness.sync()
  for (const rule of rulesOf(harness).slice(0, 13)) harness.sandbox.state.removeRule(rule.id)
  harness.sandbox.state.addRule({ name: 'new' })
  expect(await harness.sync()).toMatchObject({ status: 'held', added: 1, removed: 0 })
  expect(await currentIds(harness)).toHaveLength(61)
  harness.sandbox.state.addRule({ name: 'another' })
  expect(await harness.sync()).toMatchObject({ status: 'held', added: 1 })
  const holds = await harness.query('select cardinality(ids) as ids, ended_at from ferry.removal_holds')
  expect(holds).toEqual([{ ids: 13, ended_at: null }])
})

test('what is held waits for a person, also once the guard would allow it: rows came, or some are listed again', async () => {
  await using harness = await openFerryHarness({ rules: 50 })
  await harness.sync()
  const gone = rulesOf(harness).slice(0, 11)
  for (const rule of gone) harness.sandbox.state.removeRule(rule.id)
  expect(await harness.sync()).toMatchObject({ status: 'held' })
  for (let n = 0; n < 6; n++) harness.sandbox.state.addRule({ name: `new ${n}` })
  expect(await harness.sync()).toMatchObject({ status: 'held', added: 6 })
  expect(await harness.sync()).toMatchObject({ status: 'held', removed: 0 })
  for (const rule of gone.slice(1)) harness.sandbox.state.addRule(rule)
  const held = await harness.sync()
  expect(held).toMatchObject({ status: 'held', removed: 0 })
  const holds = await harness.query('select ids, ended_at from ferry.removal_holds')
  expect(holds).toEqual([{ ids: [`${gone[0]!.id}`], ended_at: null }])
  // Nor does what vanishes while it waits go unasked.
  const another = rulesOf(harness)[0]!
  harness.sandbox.state.removeRule(another.id)
  expect(await harness.sync()).toMatchObject({ status: 'held', removed: 0 })
  harness.sandbox.state.addRule(another)
  expect(await approveRun(harness.ferry, held.run, ADA, NEVER)).toMatchObject({ removed: 1 })
  harness.sandbox.state.removeRule(another.id)
  expect(await harness.sync()).toMatchObject({ status: 'succeeded', removed: 1 })
})

test('as many as the guard allows are removed unasked', async () => {
  await using harness = await openFerryHarness({ rules: 60 })
  await harness.sync()
  for (const rule of rulesOf(harness).slice(0, 12)) harness.sandbox.state.removeRule(rule.id)
  expect(await harness.sync()).toMatchObject({ status: 'succeeded', removed: 12 })
})

test('a person who looked may accept the removals of one run', async () => {
  await using harness = await openFerryHarness({ rules: 30 })
  await harness.sync()
  for (const rule of rulesOf(harness).slice(0, 20)) harness.sandbox.state.removeRule(rule.id)
  expect(await harness.sync()).toMatchObject({ status: 'held' })
  expect(await harness.sync({ acceptRemovals: true })).toMatchObject({ status: 'succeeded', removed: 20 })
  expect(await harness.query('select outcome from ferry.removal_holds')).toEqual([{ outcome: 'approved' }])
})

test('a held run that comes back is no longer held: a complete listing voids the hold', async () => {
  await using harness = await openFerryHarness({ rules: 30 })
  await harness.sync()
  harness.sandbox.state.replaceRulesBody('[]')
  const held = await harness.sync()
  harness.sandbox.state.replaceRulesBody(null)
  expect(await harness.sync()).toMatchObject({ status: 'succeeded', removed: 0, unchanged: 30 })
  expect(await harness.query('select outcome from ferry.removal_holds')).toEqual([{ outcome: 'voided' }])
  await expect(approveRun(harness.ferry, held.run, ADA, NEVER)).rejects.toThrow(NothingToApprove)
  expect(await currentIds(harness)).toHaveLength(30)
})

test('approving removes only what was in the hold and is still absent', async () => {
  await using harness = await openFerryHarness({ rules: 60 })
  await harness.sync()
  const rules = rulesOf(harness)
  for (const rule of rules.slice(0, 30)) harness.sandbox.state.removeRule(rule.id)
  const held = await harness.sync()
  harness.sandbox.state.addRule(rules[0]!)
  harness.sandbox.state.removeRule(rules[40]!.id)
  const approved = await approveRun(harness.ferry, held.run, ADA, NEVER)
  expect(approved).toMatchObject({ status: 'succeeded', removed: 29 })
  const ids = await currentIds(harness)
  expect(ids).toContain(`${rules[0]!.id}`)
  expect(ids).toContain(`${rules[40]!.id}`)
  expect(await harness.query('select outcome from ferry.removal_holds')).toEqual([{ outcome: 'approved' }])
  expect(await harness.sync()).toMatchObject({ status: 'succeeded', removed: 1 })
})

test('approving after the listing recovered removes nothing', async () => {
  await using harness = await openFerryHarness({ rules: 30 })
  await harness.sync()
  harness.sandbox.state.replaceRulesBody('[]')
  const held = await harness.sync()
  harness.sandbox.state.replaceRulesBody(null)
  expect(await approveRun(harness.ferry, held.run, ADA, NEVER)).toMatchObject({
    status: 'succeeded',
    removed: 0,
  })
  expect(await currentIds(harness)).toHaveLength(30)
})

test('the first run in a new scope removes nothing, and a later one does', async () => {
  await using harness = await openFerryHarness({ rules: 30 })
  await harness.sync()
  harness.sandbox.state.addKey({ key: 'another-key-with-another-view' })
  harness.sandbox.state.removeRule(rulesOf(harness)[0]!.id)
  const rotated = await harness.openFerry({ FERRY_APP_KEY: 'another-key-with-another-view' })
  const request = { account: 'default', resource: 'alert-rules', trigger: 'manual' } as const
  const first = await syncInventory(rotated, request, NEVER)
  expect(first).toMatchObject({
    status: 'succeeded',
    removed: 0,
    message: expect.stringContaining('new scope'),
  })
  expect(await syncInventory(rotated, request, NEVER)).toMatchObject({ status: 'succeeded', removed: 1 })
})

test("a folder's run closes only rows of that folder, and a narrowed scope leaves the others alone", async () => {
  await using harness = await openFerryHarness({ rules: 60, folders: 3 })
  await harness.sync()
  const rules = rulesOf(harness)
  const folder = rules[0]!.folder_id
  const inFolder = rules.filter(rule => rule.folder_id === folder)
  const elsewhere = rules.filter(rule => rule.folder_id !== folder)
  await harness.sync({ folders: [folder] })
  harness.sandbox.state.removeRule(inFolder[0]!.id)
  harness.sandbox.state.removeRule(elsewhere[0]!.id)
  expect(await harness.sync({ folders: [folder] })).toMatchObject({
    status: 'succeeded',
    removed: 1,
    seen: inFolder.length - 1,
  })
  const ids = await currentIds(harness)
  expect(ids).not.toContain(`${inFolder[0]!.id}`)
  expect(ids).toContain(`${elsewhere[0]!.id}`)
  expect(await harness.sync()).toMatchObject({ status: 'succeeded', removed: 1 })
})

test('a rule that moves to another folder is changed, not removed, whichever folder is read', async () => {
  await using harness = await openFerryHarness({ rules: 30, folders: 3 })
  const [rule] = rulesOf(harness)
  const to = rulesOf(harness).find(other => other.folder_id !== rule!.folder_id)!.folder_id
  await harness.sync()
  await harness.sync({ folders: [to] })
  harness.sandbox.state.changeRule(rule!.id, { folder_id: to })
  expect(await harness.sync({ folders: [to] })).toMatchObject({
    status: 'succeeded',
    changed: 1,
    added: 0,
    removed: 0,
  })
})

test('a complete listing ends the hold of another key, and an approval reaches into no other scope', async () => {
  await using harness = await openFerryHarness({ rules: 30 })
  await harness.sync()
  for (const key of ['second-key', 'third-key']) harness.sandbox.state.addKey({ key })
  const request = { account: 'default', resource: 'alert-rules', trigger: 'manual' } as const
  harness.sandbox.state.replaceRulesBody('[]')
  await harness.sync()
  harness.sandbox.state.replaceRulesBody(null)
  const second = await harness.openFerry({ FERRY_APP_KEY: 'second-key' })
  expect(await syncInventory(second, request, NEVER)).toMatchObject({ status: 'succeeded', unchanged: 30 })
  expect(await harness.query('select outcome from ferry.removal_holds')).toEqual([{ outcome: 'voided' }])

  harness.sandbox.state.replaceRulesBody('[]')
  const held = await syncInventory(second, request, NEVER)
  const third = await harness.openFerry({ FERRY_APP_KEY: 'third-key' })
  const open = () => harness.query('select 1 from ferry.removal_holds where ended_at is null')
  expect(await approveRun(third, held.run, ADA, NEVER)).toMatchObject({
    status: 'succeeded',
    removed: 0,
    message: expect.stringContaining('because they were held with another key or other settings'),
  })
  // Nor does it once that scope is known: what was held was held in another.
  expect(await approveRun(third, held.run, ADA, NEVER)).toMatchObject({ removed: 0 })
  expect(await open()).toHaveLength(1)
  expect(await harness.query('select from ferry.audit where action = $1', ['approve'])).toEqual([])
  const again = await syncInventory(third, request, NEVER)
  expect(again.status).toBe('held')
  expect(await approveRun(third, again.run, ADA, NEVER)).toMatchObject({ removed: 30 })
  expect(await open()).toEqual([])
})

test('approving a run never removes what a run of another folder held', async () => {
  await using harness = await openFerryHarness({ rules: 60, folders: 2 })
  await harness.sync()
  const rules = rulesOf(harness)
  const [folder] = [rules[0]!.folder_id]
  await harness.sync({ folders: [folder] })
  for (const rule of rules.slice(0, 30)) harness.sandbox.state.removeRule(rule.id)
  const everywhere = await harness.sync()
  const inFolder = await harness.sync({ folders: [folder] })
  expect([everywhere.status, inFolder.status]).toEqual(['held', 'held'])
  await expect(approveRun(harness.ferry, everywhere.run, ADA, NEVER)).rejects.toThrow(NothingToApprove)
  const gone = rules.slice(0, 30).filter(rule => rule.folder_id === folder).length
  expect(await approveRun(harness.ferry, inFolder.run, ADA, NEVER)).toMatchObject({ removed: gone })
})
