import { expect, test } from 'vitest'
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
