import type { Pool } from 'pg'
import { expect, test } from 'vitest'
import { RULE_SORTS } from '#src/inventory/history/list-order.ts'
import { loadRulePage, type RuleFilter } from '#src/inventory/history/rule-page.ts'
import { openTestStore } from '#test/support/store.ts'
import { insertFiring, insertRuleVersion } from '#test/support/versions.ts'

const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute))

/** The rules of all pages, `account/id`, each page of `rows`. */
async function pagesOf(pool: Pool, filter: RuleFilter, rows = 3): Promise<string[]> {
  const all: string[] = []
  for (let after = null, pages = 0; ; pages++) {
    const page = await loadRulePage(pool, filter, after, rows)
    all.push(...page.rows.map(({ account, id }) => `${account}/${id}`))
    if (page.next === null) return all
    after = page.next
    expect(pages).toBeLessThan(100)
  }
}

/** Twenty rules in two accounts that have the same ids; each changed its name and folder, some are gone, some fire. */
async function fill(pool: Pool): Promise<void> {
  for (const account of ['a', 'b']) {
    for (let n = 1; n <= 10; n++) {
      const rule = { account, id: `${n}`, labels: { team: `t${n % 3}` } }
      const [name, folder] = [`Rule ${n % 4}`, n % 3]
      await insertRuleVersion(pool, { ...rule, name, folder, from: at(n), to: at(20 + n) })
      if (n % 5 === 0) continue
      await insertRuleVersion(pool, {
        ...rule,
        name: `rule ${(n * 7) % 5}`,
        folder: (n + 1) % 3,
        enabled: n % 2 === 0,
        from: at(20 + n),
      })
      if (n % 3 !== 0) continue
      await insertFiring(pool, { account, id: `${n}`, from: at(15), to: at(22) })
      await insertFiring(pool, { account, id: `${n}`, from: at(30 + n) })
    }
  }
}

test('pages of every order have each rule that held at any moment once, now too', async () => {
  await using store = await openTestStore()
  await fill(store.pool)
  for (const asOf of [undefined, at(0), at(7), at(21), at(25), at(33), at(99)]) {
    const held = await store.pool.query<{ key: string; triggered: boolean }>(
      `select account || '/' || id as key, triggered from ferry.alert_rules_as_of($1) order by account, id`,
      [asOf ?? 'infinity'],
    )
    const keys = held.rows.map(({ key }) => key)
    const firing = held.rows.filter(({ triggered }) => triggered).map(({ key }) => key)
    for (const sort of RULE_SORTS) {
      const found = await pagesOf(store.pool, { sort, asOf })
      const expected = sort === 'firing since' ? firing : keys
      expect(found.toSorted(byKey), `${sort}, ${asOf?.toISOString()}`).toEqual(expected.toSorted(byKey))
    }
    expect((await pagesOf(store.pool, { firing: true, asOf })).toSorted(byKey)).toEqual(
      firing.toSorted(byKey),
    )
    const others = keys.filter(key => !firing.includes(key))
    expect((await pagesOf(store.pool, { firing: false, asOf })).toSorted(byKey)).toEqual(
      others.toSorted(byKey),
    )
  }
})

const byKey = (one: string, other: string) => (one < other ? -1 : 1)

test('the rules stand in the order that is asked for', async () => {
  await using store = await openTestStore()
  const { pool } = store
  await insertRuleVersion(pool, { id: '1', name: 'beta', folder: 2, from: at(3) })
  await insertRuleVersion(pool, { id: '2', name: 'Alpha', folder: 10, from: at(2) })
  await insertRuleVersion(pool, { id: '10', name: 'alpha', folder: 2, from: at(1) })
  const other = { account: 'b', id: '3' }
  await insertRuleVersion(pool, { ...other, name: 'Aardvark', folder: 2, from: at(5) })
  await insertFiring(pool, { id: '1', from: at(9) })
  await insertFiring(pool, { id: '10', from: at(4) })
  await insertFiring(pool, { ...other, from: at(6) })
  const inOrder = (sort?: RuleFilter['sort']) => pagesOf(pool, { sort }, 1)
  expect(await inOrder()).toEqual(['b/3', 'a/2', 'a/10', 'a/1'])
  expect(await inOrder('folder')).toEqual(['b/3', 'a/10', 'a/1', 'a/2'])
  expect(await inOrder('updated')).toEqual(['b/3', 'a/1', 'a/2', 'a/10'])
  expect(await inOrder('firing since')).toEqual(['a/10', 'b/3', 'a/1'])
})

test('words, a label and a name are found, also where a rule has more text than its words keep', async () => {
  await using store = await openTestStore()
  const { pool } = store
  const long = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`label-${n}`, `value of ${n}`]))
  await insertRuleVersion(pool, {
    id: '1',
    name: 'Checkout is slow',
    labels: { team: 'Pay', env: 'prod' },
    from: at(1),
  })
  await insertRuleVersion(pool, { id: '2', name: 'Checkout', labels: { team: 'Payments' }, from: at(1) })
  await insertRuleVersion(pool, { id: '3', name: 'Login', labels: { ...long, zone: 'eu"1' }, from: at(1) })
  await insertRuleVersion(pool, { id: '4', name: `${'x'.repeat(300)} End`, labels: null, from: at(1) })
  const ids = async (filter: RuleFilter) => (await pagesOf(pool, filter)).map(key => key.slice(2))
  for (const asOf of [undefined, at(2)]) {
    expect(await ids({ asOf, words: 'CHECKOUT pay' })).toEqual(['2', '1'])
    expect(await ids({ asOf, words: 'slow prod' })).toEqual(['1'])
    const nine = 'slow prod s l o w p r o'
    expect(await ids({ asOf, words: nine })).toEqual(['1'])
    expect(await ids({ asOf, words: `${nine} nowhere` })).toEqual([])
    expect(await ids({ asOf, words: '100%_' })).toEqual([])
    expect(await ids({ asOf, label: { team: 'Pay' } })).toEqual(['1'])
    expect(await ids({ asOf, label: { team: 'pay' } })).toEqual([])
    expect(await ids({ asOf, label: { zone: 'eu"1' } })).toEqual(['3'])
    expect(await ids({ asOf, label: { team: 'Pay', env: 'prod' } })).toEqual(['1'])
    expect(await ids({ asOf, name: 'CHECK' })).toEqual(['2', '1'])
    expect(await ids({ asOf, name: 'x end' })).toEqual(['4'])
    expect(await ids({ asOf, name: 'team' })).toEqual([])
  }
})

test('of an earlier moment, any text is found and ordered as that of current rules', async () => {
  await using store = await openTestStore()
  const { pool } = store
  const parts = ['A', 'ä', 'Ä', 'I', 'İ', 'ı', 'ß', 'Σ', 'ς', '\u212a', 'Z', '\n', ' ', 'x'.repeat(199)]
  const texts = parts.flatMap(one => parts.map(other => `${one}${other}`))
  for (const [n, name] of texts.entries()) {
    const rule = { id: `${n}`, labels: { l: texts.at(-n)! } }
    await insertRuleVersion(pool, { ...rule, name, from: at(1), to: at(2) })
    await insertRuleVersion(pool, { ...rule, name, from: at(3) })
  }
  const byName = (asOf: Date) => pagesOf(pool, { asOf }, 50)
  expect(await byName(at(1))).toEqual(await byName(at(4)))
  for (const words of parts) {
    const found = await pagesOf(pool, { words, asOf: at(1) }, 50)
    expect(found, words).toEqual(await pagesOf(pool, { words }, 50))
    expect(found.length, words).toBeGreaterThan(1)
  }
})

test('a version that has ended has no words: history does not grow by them', async () => {
  await using store = await openTestStore()
  await insertRuleVersion(store.pool, { id: '1', name: 'Now', from: at(1) })
  await store.pool.query('update ferry.alert_rule_versions set valid_to = $1', [at(5)])
  expect((await store.pool.query('select words from ferry.alert_rule_versions')).rows).toEqual([
    { words: null },
  ])
  expect(await pagesOf(store.pool, { words: 'now' })).toEqual([])
  expect(await pagesOf(store.pool, { words: 'now', asOf: at(4) })).toEqual(['a/1'])
})
