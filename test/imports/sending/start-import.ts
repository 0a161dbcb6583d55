import type { Pool, PoolClient, QueryConfig } from 'pg'
import { pino } from 'pino'
import { acquireLease } from '#src/db/leases.ts'
import { type Started, startImport } from '#src/imports/sending/start.ts'
import { putBatches } from '#test/support/batches.ts'
import { type StagedImport, stageRows } from '#test/support/staged.ts'
import type { TestStore } from '#test/support/store.ts'

/** The rows of an import, all sent at once. */
export async function stageSent(store: TestStore, rows: number, staged: StagedImport = {}): Promise<bigint> {
  const id = await stageRows(store.pool, { rows, status: 'completed', ...staged })
  await putBatches(store.pool, id, [{ lines: rows, state: 'sent' }])
  return id
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
