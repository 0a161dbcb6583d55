import { createRequire } from 'node:module'
import type { TablesRelationalConfig } from 'drizzle-orm'
import type * as NodePostgres from 'drizzle-orm/node-postgres'
import type * as PgCore from 'drizzle-orm/pg-core'
import type { Pool, PoolClient } from 'pg'

/*
 * The only place that loads Drizzle. Tables (`schema.ts` of each room) and queries import its functions from here; add the
 * ones you need. Types may be imported from `drizzle-orm` itself.
 *
 * It loads the CommonJS build. Linking the ES modules of the same version takes Node 350 ms and 110 MB of memory, because
 * their `export *` form circles; the CommonJS build takes 50 ms and 16 MB (drizzle-orm 0.45.4, Node 26.10). An idle worker
 * may have 150 MB in all. Import `drizzle-orm` directly once its ES modules cost no more than that.
 */
const require = createRequire(import.meta.url)

export const { and, asc, between, desc, eq, gt, gte, inArray, isNotNull, isNull, lt, max, ne, not, or, sql } =
  require('drizzle-orm') as typeof import('drizzle-orm')

const pgCore = require('drizzle-orm/pg-core') as typeof PgCore

export const {
  alias,
  bigint,
  boolean,
  check,
  customType,
  index,
  integer,
  interval,
  jsonb,
  pgSchema,
  primaryKey,
  text,
  timestamp,
  uniqueIndex,
  uuid,
} = pgCore

const { NodePgSession } = require('drizzle-orm/node-postgres') as typeof NodePostgres

/** Drizzle's queries. Its transactions are left out: those of `inTransaction` are the only ones. */
export type Queries = Omit<PgCore.PgDatabase<NodePostgres.NodePgQueryResultHKT>, 'transaction'>

/**
 * Returns Drizzle's queries on our pool, or on the client of a transaction that is open.
 *
 * Statements go through `query` of the pool or client, so they are READ COMMITTED like all others. They fail with the
 * error of the driver: Drizzle's own would hide its code and repeat the parameters in its message, which may be personal data.
 */
export function drizzleOf(client: Pool | PoolClient): Queries {
  const dialect = new pgCore.PgDialect()
  return new pgCore.PgDatabase(dialect, new PlainSession(client, dialect, undefined), undefined)
}

/**
 * Returns a query that Drizzle builds once for each connection, not for each call, which takes it 0.3 ms. For the queries of
 * every batch. `sql.placeholder` stands for each value that `execute` is given.
 */
export function builtOnce<Query>(
  build: (db: Queries) => { prepare(name: string): Query },
): (client: PoolClient) => Query {
  const built = new WeakMap<PoolClient, Query>()
  return client => {
    const query = built.get(client) ?? build(drizzleOf(client)).prepare(UNNAMED)
    built.set(client, query)
    return query
  }
}

/** Nothing is prepared in Postgres: a pooler may give the next transaction another server process. */
const UNNAMED = ''

type Session = NodePostgres.NodePgSession<Record<string, unknown>, TablesRelationalConfig>

class PlainSession extends NodePgSession<Record<string, unknown>, TablesRelationalConfig> {
  override prepareQuery: Session['prepareQuery'] = (...args) =>
    Object.assign(super.prepareQuery(...args), {
      queryWithCache: (_text: string, _params: unknown[], query: () => Promise<unknown>) => query(),
    })
}
