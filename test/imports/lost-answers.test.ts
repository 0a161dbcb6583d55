import type { Pool } from 'pg'
import { expect, test } from 'vitest'
import { pauseImport } from '#src/imports/control.ts'
import { type ImportWorld, setup } from './import-world.ts'

/**
 * Works on an import with a database that does what it is asked, but of whose answers to `what` some are lost: the nth
 * are, counted from 1. `meanwhile` happens before the loss is noticed.
 */
async function workWithLosses(
  world: ImportWorld,
  id: bigint,
  lost: { what: RegExp; nth: readonly number[]; meanwhile?: () => Promise<unknown> },
) {
  let asked = 0
  const pool = new Proxy(world.ferry.pool, {
    get(target, key) {
      const member: unknown = Reflect.get(target, key)
      if (typeof member !== 'function') return member
      if (key !== 'query') return member.bind(target)
      return async (text: string, values?: unknown[]) => {
        const answer = await target.query(text, values)
        if (!lost.what.test(text)) return answer
        asked += 1
        if (!lost.nth.includes(asked)) return answer
        await lost.meanwhile?.()
        throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
      }
    },
  }) as Pool
  return world.work(id, { ferry: { ...world.ferry, pool } })
}

const CLAIM = /ferry\.claim_batch/

test('a claim whose answer was lost is sent, once, and nobody is asked about it', async () => {
  await using world = await setup()
  const id = await world.stage({ rows: 6, batchRows: 2, onUncertain: 'hold' })
  expect(await workWithLosses(world, id, { what: CLAIM, nth: [1, 3] })).toBe('completed')
  expect(world.timesDelivered()).toEqual({ once: 6 })
  expect(await world.batches(id)).toMatchObject(Array(3).fill({ state: 'sent', resends: 0 }))
  expect(await world.query('select count(*)::int from ferry.platform_calls')).toEqual([{ count: 3 }])
})

test('a claim whose answer was lost while somebody paused the import is given up with its slot', async () => {
  await using world = await setup()
  const id = await world.stage({ rows: 6, batchRows: 2, onUncertain: 'hold' })
  const meanwhile = () => pauseImport(world.ferry.pool, id)
  expect(await workWithLosses(world, id, { what: CLAIM, nth: [1], meanwhile })).toBe('paused')
  expect(world.calls()).toBe(0)
  expect(await world.batches(id)).toMatchObject([
    { state: 'ready', resends: 0, uncertain: false, call_id: null },
  ])
  expect(await world.query('select from ferry.platform_calls')).toEqual([])
})

test('a claim whose answer was lost together with the lease is free for the next worker at once', async () => {
  await using world = await setup()
  const id = await world.stage({ rows: 6, batchRows: 2, onUncertain: 'hold' })
  const meanwhile = () => world.query('update ferry.leases set token = gen_random_uuid()')
  expect(await workWithLosses(world, id, { what: CLAIM, nth: [1], meanwhile })).toBe('busy')
  await world.query('delete from ferry.leases')
  expect(await world.work(id)).toBe('completed')
  expect(world.timesDelivered()).toEqual({ once: 6 })
})
