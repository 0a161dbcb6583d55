import { expect, test } from 'vitest'
import { AROUND_KINDS, firingInWords, kindInWords, loadAround } from '#src/reports/around.ts'
import { addRun } from '#test/support/runs.ts'
import { openTestStore } from '#test/support/store.ts'
import { DAY, fire, HOUR, insert, minutesAgo } from './ask.ts'

/** Two accounts that were read a minute before the moment and after it, with rules that fired; those of `b` have ids of `a`. */
async function openFiring() {
  const store = await openTestStore()
  const rule = { from: DAY, labels: { team: 'core', zone: 'Hamburg' } }
  await insert(store, { ...rule, id: '1', name: 'disk full', folder: 7 })
  await insert(store, { ...rule, id: '2', name: 'checkout slow', folder: 8, labels: { team: 'pay' } })
  await insert(store, { ...rule, id: '3', name: 'was off', folder: 8, enabled: false, labels: null })
  await insert(store, { ...rule, id: '1', name: 'disk of b', folder: 9, account: 'b', labels: {} })
  await fire(store, { id: '1', from: 3 * HOUR })
  await fire(store, { id: '2', from: 2 * HOUR, to: 10 })
  await fire(store, { id: '3', from: 90 })
  await fire(store, { account: 'b', id: '1', from: 100 })
  for (const account of ['a', 'b']) {
    for (const minutes of [31, 29]) {
      await store.pool.query(
        'update ferry.sync_runs set started_at = $2, applied_at = $2, finished_at = $2 where id = $1',
        [await addRun(store.pool, { account }), minutesAgo(minutes)],
      )
    }
  }
  const firing = async (filter: object, limit = 9) => {
    const found = await loadAround(store.pool, { at: minutesAgo(30), spanMs: 60_000, ...filter }, limit)
    return [found.firing.map(({ account, name }) => `${name} ${account}`), found.isCut]
  }
  return Object.assign(store, { firing })
}

test('what was firing is shown as it was then, the longest first', async () => {
  await using store = await openFiring()
  const { firing } = await loadAround(store.pool, { at: minutesAgo(30), spanMs: 60_000 }, 9)
  const after = (minutes: number) => expect.closeTo((minutes - 30) * 60_000, -2)
  expect(firing).toEqual([
    {
      account: 'a',
      id: '1',
      name: 'disk full',
      folderId: '7',
      team: 'core',
      enabled: true,
      began: minutesAgo(3 * HOUR),
      ended: null,
      firedForMs: after(3 * HOUR),
      known: true,
    },
    {
      account: 'a',
      id: '2',
      name: 'checkout slow',
      folderId: '8',
      team: 'pay',
      enabled: true,
      began: minutesAgo(2 * HOUR),
      ended: minutesAgo(10),
      firedForMs: after(2 * HOUR),
      known: true,
    },
    {
      account: 'b',
      id: '1',
      name: 'disk of b',
      folderId: '9',
      team: null,
      enabled: true,
      began: minutesAgo(100),
      ended: null,
      firedForMs: after(100),
      known: true,
    },
    {
      account: 'a',
      id: '3',
      name: 'was off',
      folderId: '8',
      team: null,
      enabled: false,
      began: minutesAgo(90),
      ended: null,
      firedForMs: after(90),
      known: true,
    },
  ])
})

test('what was firing is narrowed by account, folder, team and words, and cut at its limit', async () => {
  await using store = await openFiring()
  const all = ['disk full a', 'checkout slow a', 'disk of b b', 'was off a']
  expect(await store.firing({})).toEqual([all, false])
  expect(await store.firing({}, 4)).toEqual([all, false])
  expect(await store.firing({}, 3)).toEqual([all.slice(0, 3), true])
  expect(await store.firing({ account: 'b' })).toEqual([['disk of b b'], false])
  expect(await store.firing({ folder: 8n })).toEqual([['checkout slow a', 'was off a'], false])
  expect(await store.firing({ team: 'core' })).toEqual([['disk full a'], false])
  expect(await store.firing({ words: 'DISK' })).toEqual([['disk full a', 'disk of b b'], false])
  expect(await store.firing({ words: 'full  hamburg' })).toEqual([['disk full a'], false])
  expect(await store.firing({ words: 'full slow' })).toEqual([[], false])
})

test('what happened is said in words, and so is what is known of the moment', () => {
  const words = AROUND_KINDS.map(kind => `${kind}: ${kindInWords({ kind, whileFiring: null })}`)
  expect(words).toEqual([
    'rule.added: added',
    'rule.changed: edited',
    'rule.disabled: switched off',
    'rule.enabled: switched on',
    'rule.removed: removed',
    'rule.returned: returned',
    'rule.fired: began to fire',
    'rule.cleared: stopped firing',
    'server.added: MCP server added',
    'server.changed: MCP server changed',
    'server.removed: MCP server removed',
    'server.returned: MCP server returned',
    'tool.added: MCP tool added',
    'tool.removed: MCP tool removed',
    'tool.changed: MCP tool described differently',
    'decision: decision',
    'import.started: import started',
    'import.ended: import ended',
    'inventory.first_read: read for the first time',
    'removals.held: removals held',
    'blind: nothing was read',
  ])
  expect(kindInWords({ kind: 'rule.disabled', whileFiring: true })).toBe('switched off while firing')
  expect(kindInWords({ kind: 'rule.disabled', whileFiring: false })).toBe('switched off')
  expect(firingInWords({ known: true, firedForMs: null })).toBe('firing')
  expect(firingInWords({ known: false, firedForMs: 1 })).toBe('not known: it fired before')
  expect(firingInWords({ known: false, firedForMs: null })).toBe('not known: first seen firing later')
})
