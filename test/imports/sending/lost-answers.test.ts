import type { Pool } from 'pg'
import { expect, test } from 'vitest'
import { pauseImport } from '#src/imports/control/decide.ts'
import { ADA } from '#test/support/acted-by.ts'
import { removeLeases, takeOverLeases } from '#test/support/leases.ts'
import { type ImportHarness, openImportHarness } from '../import-harness.ts'

/**
 * Works on an import with a database that does what it is asked, but of whose answers to `what` some are lost: the nth
 * are, counted from 1. `meanwhile` happens before the loss is noticed.
 */
async function workWithLosses(
  harness: ImportHarness,
  id: bigint,
  lost: { what: RegExp; nth: readonly number[]; meanwhile?: () => Promise<unknown> },
) {
  let asked = 0
  const pool = new Proxy(harness.ferry.pool, {
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
  return harness.work(id, { ferry: { ...harness.ferry, pool } })
}

const CLAIM = /ferry_internal\.claim_next_batch/

test('a claim whose answer was lost is sent, once, and nobody is asked about it', async () => {
  await using harness = await openImportHarness()
  const id = await harness.stage({ rows: 6, batchRows: 2, onUncertain: 'hold' })
  expect(await workWithLosses(harness, id, { what: CLAIM, nth: [1, 3] })).toBe('completed')
  expect(harness.timesDelivered()).toEqual({ once: 6 })
  expect(await harness.batches(id)).toMatchObject(Array(3).fill({ state: 'sent', resends: 0 }))
  expect(await harness.query('select count(*)::int from ferry.platform_calls')).toEqual([{ count: 3 }])
})

test('a claim whose answer was lost while somebody paused the import is released with its permit', async () => {
  await using harness = await openImportHarness()
  const id = await harness.stage({ rows: 6, batchRows: 2, onUncertain: 'hold' })
  const meanwhile = () => pauseImport(harness.ferry.pool, id, ADA)
  expect(await workWithLosses(harness, id, { what: CLAIM, nth: [1], meanwhile })).toBe('paused')
  expect(harness.calls()).toBe(0)
  expect(await harness.batches(id)).toMatchObject([
    { state: 'ready', resends: 0, uncertain: false, call_id: null },
  ])
  expect(await harness.query('select from ferry.platform_calls')).toEqual([])
})

test('a claim whose answer was lost together with the lease is free for the next worker at once', async () => {
  await using harness = await openImportHarness()
  const id = await harness.stage({ rows: 6, batchRows: 2, onUncertain: 'hold' })
  const meanwhile = () => takeOverLeases(harness.ferry.pool)
  expect(await workWithLosses(harness, id, { what: CLAIM, nth: [1], meanwhile })).toBe('busy')
  await removeLeases(harness.ferry.pool)
  expect(await harness.work(id)).toBe('completed')
  expect(harness.timesDelivered()).toEqual({ once: 6 })
})
