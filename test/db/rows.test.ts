import { expect, test } from 'vitest'
import { z } from 'zod'
import { findAll, findColumn, findMaybe, findOne, findValue, Int8 } from '#src/db/rows.ts'
import { openTestStore } from '#test/support/store.ts'

const Call = z.object({ callId: Int8, httpStatus: z.number().nullable(), at: z.date() })
const CALLS = `
  select call_id, http_status, at
  from (values (9007199254740993::int8, 200, timestamptz '2026-01-01Z'), (2, null, '2026-01-02Z')) c (call_id, http_status, at)
  where call_id > $1`

test('rows leave with the names of their schema, and numbers of 64 bits with all their digits', async () => {
  await using store = await openTestStore()
  const [first, second] = [
    { callId: 9007199254740993n, httpStatus: 200, at: new Date('2026-01-01') },
    { callId: 2n, httpStatus: null, at: new Date('2026-01-02') },
  ]
  expect(await findAll(store.pool, Call, CALLS, [0])).toEqual([first, second])
  expect(await findOne(store.pool, Call, CALLS, [2])).toEqual(first)
  expect(await findMaybe(store.pool, Call, CALLS, [2])).toEqual(first)
  expect(await findValue(store.pool, Int8, CALLS, [0])).toBe(first.callId)
  expect(await findColumn(store.pool, Int8, CALLS, [0])).toEqual([first.callId, second.callId])
})

test('a statement that must have a row and has none is an error that names it; elsewhere there is nothing', async () => {
  await using store = await openTestStore()
  const none = ['9223372036854775807']
  expect(await findAll(store.pool, Call, CALLS, none)).toEqual([])
  expect(await findMaybe(store.pool, Call, CALLS, none)).toBeNull()
  await expect(findOne(store.pool, Call, CALLS, none)).rejects.toThrow('select call_id')
  await expect(findValue(store.pool, Int8, CALLS, none)).rejects.toThrow('select call_id')
})

test('a row that is not what its schema says goes no further, and the error tells nothing of what it holds', async () => {
  await using store = await openTestStore()
  const wrong = `select 1::int8 as call_id, 'a@example.com' as http_status, now() as at`
  const failure = await findAll(store.pool, Call, wrong).catch(String)
  expect(failure).toContain('httpStatus')
  expect(failure).not.toContain('example.com')
  await expect(findMaybe(store.pool, Call, wrong)).rejects.toThrow('httpStatus')
  await expect(findOne(store.pool, z.object({ gone: z.string() }), wrong)).rejects.toThrow('gone')
  await expect(findValue(store.pool, z.boolean(), wrong)).rejects.toThrow('boolean')
})
