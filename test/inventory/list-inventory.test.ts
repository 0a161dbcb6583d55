import { expect, test } from 'vitest'
import { loadFiringPage } from '#src/inventory/history/firing-page.ts'
import { listFirings, listInventory } from '#src/inventory/history/list-inventory.ts'
import { openTestStore } from '#test/support/store.ts'
import { insertFiring, insertRuleVersion } from '#test/support/versions.ts'

test('the firings of a rule are those of its account, and none of another that has the same id', async () => {
  await using store = await openTestStore()
  const [began, between, ended] = ['2026-11-01T00:00Z', '2026-11-01T01:00Z', '2026-11-01T02:00Z']
  await insertFiring(store.pool, { account: 'a', from: began, to: between })
  await insertFiring(store.pool, { account: 'b', from: between, to: ended })
  expect(await listFirings(store.pool, { account: 'a', id: '1' }, undefined, 10)).toEqual([
    { account: 'a', began: new Date(began), ended: new Date(between) },
  ])
})

test('a page of firings has those of one rule of one account, the newest first, before a moment or from it on', async () => {
  await using store = await openTestStore()
  const { pool } = store
  const at = (day: number) => `2026-11-0${day}T00:00:00.000000Z`
  for (const day of [1, 3, 5]) await insertFiring(pool, { from: at(day), to: at(day + 1) })
  await insertFiring(pool, { from: at(7) })
  await insertFiring(pool, { account: 'b', from: at(4) })
  await insertFiring(pool, { id: '2', from: at(4) })
  const rule = { account: 'a', id: '1' }
  const firing = (day: number, ended: string | null = at(day + 1)) => ({
    began: new Date(at(day)),
    ended: ended && new Date(ended),
    key: at(day),
  })
  const all = [firing(7, null), firing(5), firing(3), firing(1)]
  expect(await loadFiringPage(pool, rule, null, 9)).toEqual(all)
  expect(await loadFiringPage(pool, rule, null, 2)).toEqual(all.slice(0, 2))
  expect(await loadFiringPage(pool, rule, { at: at(5), isIncluded: true }, 9)).toEqual(all.slice(1))
  expect(await loadFiringPage(pool, rule, { at: at(5), isIncluded: false }, 9)).toEqual(all.slice(2))
  expect(await loadFiringPage(pool, { ...rule, account: 'c' }, null, 9)).toEqual([])
})

test('a rule with the labels that are asked for is found, whatever other labels it has', async () => {
  await using store = await openTestStore()
  const labels = { team: 'pay', env: 'prod', region: 'eu' }
  const rule = { from: '2026-11-01T00:00Z' }
  await insertRuleVersion(store.pool, { ...rule, id: '1', name: 'all of them', labels })
  await insertRuleVersion(store.pool, { ...rule, id: '2', name: 'one', labels: { team: 'pay' } })
  await insertRuleVersion(store.pool, {
    ...rule,
    id: '3',
    name: 'another value',
    labels: { ...labels, env: 'test' },
  })
  await insertRuleVersion(store.pool, { ...rule, id: '4', name: 'none', labels: null })
  const namesWith = async (wanted: Record<string, string>) =>
    await Array.fromAsync(
      listInventory(store.pool, 'alert-rules', { label: wanted }, null),
      ({ name }) => name,
    )
  expect(await namesWith({ team: 'pay', env: 'prod' })).toEqual(['all of them'])
  expect(await namesWith({ team: 'pay' })).toEqual(['all of them', 'another value', 'one'])
})

test('a rule without labels is found by words of its name, now and at an earlier moment', async () => {
  await using store = await openTestStore()
  const rule = { from: '2026-11-01T00:00Z', labels: null }
  await insertRuleVersion(store.pool, { ...rule, id: '1', name: 'Disk full' })
  await insertRuleVersion(store.pool, { ...rule, id: '2', name: 'Disk slow' })
  for (const asOf of [undefined, new Date('2026-11-02')]) {
    const found = listInventory(store.pool, 'alert-rules', { words: 'full DISK', asOf }, null)
    expect(await Array.fromAsync(found, ({ name }) => name)).toEqual(['Disk full'])
  }
})
