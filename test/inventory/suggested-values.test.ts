import { expect, test } from 'vitest'
import { shortFields } from '#src/inventory/history/change-row.ts'
import { suggest } from '#src/inventory/history/known-words.ts'
import {
  suggestEditors,
  suggestFolders,
  suggestServerTeams,
  suggestTeams,
} from '#src/inventory/history/suggest.ts'
import { openTestStore, type TestStore } from '#test/support/store.ts'
import { insertRuleVersion, insertServerVersion } from '#test/support/versions.ts'

const at = (hour: number) => new Date(Date.UTC(2026, 0, 1, hour))

/** Current rules and servers, and others that are gone. */
async function fill({ pool }: TestStore): Promise<void> {
  const now = { from: at(2) }
  const gone = { from: at(1), to: at(2) }
  await insertRuleVersion(pool, {
    ...now,
    id: '1',
    name: 'Checkout',
    folder: 10,
    labels: { team: 'pay' },
    by: 'Eve Adams',
  })
  await insertRuleVersion(pool, {
    ...now,
    id: '2',
    name: 'Login',
    folder: 9,
    labels: { team: 'core' },
    by: 'Zoe',
  })
  await insertRuleVersion(pool, {
    ...now,
    id: '3',
    name: 'Search',
    folder: 9,
    labels: { team: ' ' },
    by: 'Zoe',
  })
  await insertRuleVersion(pool, {
    ...now,
    id: '4',
    name: 'Read',
    labels: { team: 'pay' },
    by: 'Max',
    appeared: 'first reading',
    folder: 10,
  })
  await insertRuleVersion(pool, { ...now, id: '5', name: 'Long', folder: 10, by: 'x'.repeat(201) })
  await insertRuleVersion(pool, { ...now, id: '6', name: 'Blank', folder: 10, by: ' ' })
  await insertRuleVersion(pool, {
    ...gone,
    id: '7',
    name: 'Wreckage',
    folder: 8,
    labels: { team: 'gone' },
    by: 'Carl',
  })
  await insertServerVersion(pool, { ...now, id: 's1', name: 'Orders', team: 12 })
  await insertServerVersion(pool, { ...now, id: 's2', name: 'Files', team: 5 })
  await insertServerVersion(pool, { ...now, id: 's3', name: 'Own' })
  await insertServerVersion(pool, { ...gone, id: 's4', name: 'Antiques', team: 7 })
}

test('a field offers what current rows have, each once and in order, and the people with the most edits first', async () => {
  await using store = await openTestStore()
  const { pool } = store
  await fill(store)
  expect(await suggestFolders(pool)).toEqual(['9', '10'])
  expect(await suggestTeams(pool)).toEqual(['core', 'pay'])
  expect(await suggestServerTeams(pool)).toEqual(['5', '12'])
  expect(await suggestEditors(pool)).toEqual(['Zoe', 'Carl', 'Eve Adams'])
  for (let n = 0; n < 201; n++)
    await insertRuleVersion(pool, {
      from: at(3),
      id: `${n + 100}`,
      name: 'many',
      folder: n + 100,
      labels: { team: `t${n}` },
    })
  expect([(await suggestFolders(pool)).length, (await suggestTeams(pool)).length]).toEqual([200, 200])
})

test('where nothing is found, what current rows have that is nearest may have been meant', async () => {
  await using store = await openTestStore()
  const { pool } = store
  await fill(store)
  const meant = async (resource: 'alert-rules' | 'mcp-servers', asked: Parameters<typeof suggest>[2]) =>
    (await suggest(pool, resource, asked)).map(one => `${one.truth} ${one.asked}: ${one.meant}`)
  const rules = (asked: Parameters<typeof suggest>[2]) => meant('alert-rules', asked)
  expect(await rules({ name: 'chekout' })).toEqual(['nothing matches chekout: checkout'])
  expect(await rules({ words: 'LOGIM login' })).toEqual(['nothing matches LOGIM: login'])
  expect(await rules({ by: 'adems' })).toEqual(['no rule was last edited by adems: Adams'])
  expect(await rules({ by: 'eve adans' })).toEqual(['no rule was last edited by eve adans: Eve Adams'])
  expect(await rules({ folder: 11n })).toEqual(['nothing matches 11: 10'])
  expect(await rules({ team: 'cor' })).toEqual(['nothing matches cor: core'])
  expect(await rules({ label: { team: 'pai' } })).toEqual(['nothing matches team=pai: team=pay'])
  // What is found is not misspelled, and what is gone is not meant.
  expect(
    await rules({ name: 'Check', by: 'adams', folder: 9n, team: 'core', label: { team: 'pay' } }),
  ).toEqual([])
  expect(await rules({ name: 'wreckige', team: 'gon', by: 'karl' })).toEqual([])
  expect(await rules({ words: 'chekout logim serch', team: 'cor' })).toEqual([
    'nothing matches chekout: checkout',
    'nothing matches logim: login',
    'nothing matches serch: search',
  ])
  expect(await meant('mcp-servers', { words: 'ordars antiqes', team: 13n })).toEqual([
    'nothing matches ordars: orders',
    'nothing matches 13: 12',
  ])
})

test('a value that is too long for a page is cut, with its length and a hash; lists may be longer than texts', async () => {
  await using store = await openTestStore()
  const fields = {
    short: 'x'.repeat(5_000),
    long: 'y'.repeat(5_001),
    wide: 'ü'.repeat(2_501),
    list: ['z'.repeat(19_990)],
    longList: ['z'.repeat(20_000)],
    nothing: null,
    id: 1,
  }
  const { rows } = await store.pool.query(
    `select ${shortFields('$1::jsonb')} as short, left(md5($1::jsonb ->> 'long'), 8) as "long", left(md5($1::jsonb ->> 'wide'), 8) as wide,
       left(md5(($1::jsonb -> 'longList')::text), 8) as list`,
    [JSON.stringify(fields)],
  )
  const [{ short, ...hashes }] = rows
  expect(JSON.parse(short)).toEqual({
    ...fields,
    long: `${'y'.repeat(5_000)}… (5001 bytes, ${hashes.long})`,
    wide: `${fields.wide}… (5002 bytes, ${hashes.wide})`,
    longList: `["${'z'.repeat(4_998)}… (20004 bytes, ${hashes.list})`,
  })
})
