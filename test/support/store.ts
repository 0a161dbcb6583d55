import type { Pool } from 'pg'
import { pino } from 'pino'
import { createThrottle } from '#src/db/call-log.ts'
import { noticeDatabase, OwnCall } from '#src/db/known-database.ts'
import { type Database, openDatabase } from '#src/db/pool.ts'
import type { Limit } from '#src/model/limit.ts'
import { openTestDatabase } from './database.ts'
import { closeInTime } from './wait-for.ts'

export type TestStore = Database & {
  readonly url: string
  /** A throttle of its own, as another process would have, on the shared call log. */
  createThrottle(limit: Limit, arrivalBoundMs?: number): ReturnType<typeof createThrottle>
  /** Another pool on the same database, closed with the store. */
  openPool(): Pool
}

/** A fresh database with Ferry's schema, opened as Ferry opens it. */
export async function openTestStore(): Promise<TestStore> {
  await using opened = new AsyncDisposableStack()
  const { url } = opened.use(await openTestDatabase())
  const open = () => opened.use(openDatabase(url, pino({ level: 'silent' })))
  const database = open()
  const kept = opened.move()
  return {
    ...database,
    url,
    createThrottle(limit, arrivalBoundMs = 5000) {
      const ownCall = new OwnCall()
      const context = { ownCall, limits: [], arrivalBoundMs, holdImports: async () => 0 }
      return createThrottle(database.pool, {
        limitOf: () => limit,
        arrivalBoundMs,
        ownCall,
        noticeDatabase: () => noticeDatabase(database.pool, context),
      })
    },
    openPool: () => kept.use(openDatabase(url, pino({ level: 'silent' }))).pool,
    [Symbol.asyncDispose]: () => closeInTime(kept),
  }
}
