import type { Pool, PoolClient, QueryConfig } from 'pg'
import { pino } from 'pino'
import { acquireLease } from '#src/db/leases.ts'
import { cancelImport } from '#src/imports/control/decide.ts'
import { type Started, startImport } from '#src/imports/sending/start.ts'
import { ADA } from '#test/support/acted-by.ts'
import { LOST, openScriptedWorker } from '#test/support/scripted-worker.ts'
import { stageRows } from '#test/support/staged.ts'
import type { TestStore } from '#test/support/store.ts'

/** An import whose rows are all sent, in as few calls as may be. */
export function stageSent(store: TestStore, rows: number): Promise<bigint> {
  return stageRows(store.pool, { rows, batchRows: 10_000, status: 'completed' })
}

/** Has a batch lost and its import cancelled meanwhile, so that a person is to decide about it; returns its id. */
export async function leaveUncertain(store: TestStore, id: bigint): Promise<bigint> {
  await using worker = await openScriptedWorker(store.pool, id)
  const claim = await worker.claim()
  await cancelImport(store.pool, id, ADA)
  await worker.send(claim, LOST)
  return claim.batchId
}

/** Has a batch cut, and nothing of it sent. */
export async function cutBatch(store: TestStore, id: bigint): Promise<void> {
  await using worker = await openScriptedWorker(store.pool, id)
  await worker.release(await worker.claim())
}

/** Starts an import as a worker does; `meddle` happens before the first query that `before` matches. */
export async function start(
  store: TestStore,
  id: bigint,
  before?: RegExp,
  meddle?: () => Promise<unknown>,
  signal = new AbortController().signal,
): Promise<Started | null> {
  const lease = await acquireLease(store.pool, `import:${id}`, 'test', pino({ level: 'silent' }))
  if ('heldBy' in lease) throw new Error('the lease is taken')
  try {
    return await startImport(meddling(store.pool, before, meddle), id, lease, signal)
  } finally {
    await lease.release()
  }
}

/** A pool of which the connections wait for `meddle` once, before the first query that matches. */
function meddling(pool: Pool, before?: RegExp, meddle?: () => Promise<unknown>): Pool {
  let left = meddle
  const meddlingClient = (client: PoolClient): PoolClient =>
    new Proxy(client, {
      get(target, key) {
        if (key !== 'query') return memberOf(target, key)
        return async (query: string | QueryConfig, values?: unknown[]) => {
          const now = before?.test(typeof query === 'string' ? query : query.text) ? left : undefined
          if (now) left = undefined
          await now?.()
          return typeof query === 'string' ? target.query(query, values) : target.query(query, values)
        }
      },
    })
  return new Proxy(pool, {
    get: (target, key) =>
      key === 'use'
        ? (work: (client: PoolClient) => Promise<unknown>) =>
            useOf(target)(client => work(meddlingClient(client)))
        : memberOf(target, key),
  })
}

/** What lends a connection for a transaction. */
function useOf(pool: Pool) {
  return memberOf(pool, 'use') as (work: (client: PoolClient) => Promise<unknown>) => Promise<unknown>
}

function memberOf<T extends object>(target: T, key: string | symbol): unknown {
  const member: unknown = Reflect.get(target, key)
  return typeof member === 'function' ? member.bind(target) : member
}
