import { expect, test } from 'vitest'
import { openTestStore } from '#test/support/store.ts'

test('keys and indexes sort text by bytes, so that another version of the locale cannot break them', async () => {
  await using store = await openTestStore()
  const { rows } = await store.pool.query<{ column: string }>(`
    select distinct c.relname || '.' || a.attname as column
    from pg_index i join pg_class c on c.oid = i.indrelid
      cross join lateral unnest(i.indkey::int2[], i.indcollation::oid[]) k (attnum, sorted)
      left join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum
    where c.relnamespace = 'ferry'::regnamespace and k.sorted = 'pg_catalog."default"'::regcollation
    order by 1`)
  expect(rows.map(({ column }) => column)).toEqual([])
})
