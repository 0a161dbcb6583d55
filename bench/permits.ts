import { pino } from 'pino'
import { createThrottle } from '#src/db/call-log.ts'
import { OwnCall } from '#src/db/known-database.ts'
import { openDatabase } from '#src/db/pool.ts'
import { percentile } from './support/figures.ts'
import { type Bench, NEVER } from './support/lab.ts'

/** What the throttle adds to a call that need not wait, while the longest window fills up to the contract's 1,000. */
export const permits: Bench = async lab => {
  const databaseUrl = await lab.openDatabase()
  const database = openDatabase(databaseUrl, pino({ level: 'silent' }))
  lab.defer(() => database[Symbol.asyncDispose]())
  const windows = [1_000, 60_000].map(windowMs => ({ maxCalls: 1_000, windowMs }))
  const throttle = createThrottle(database.pool, {
    limitOf: () => ({ limitKey: 'account:default', windows }),
    arrivalBoundMs: 5_000,
    ownCall: new OwnCall(),
    noticeDatabase: async () => null,
  })
  const takeMs: number[] = []
  const finishMs: number[] = []
  const ended = {
    httpStatus: 200,
    errorCode: null,
    requestId: 'r',
    isOverLimit: false,
    retryAfterMs: null,
  }
  for (let call = 0; call < 1_000; call++) {
    const askedAtMs = performance.now()
    const permit = await throttle.acquirePermit(
      { account: 'default', operation: 'list-mcp-servers', runId: null },
      NEVER,
    )
    const takenAtMs = performance.now()
    await throttle.finishCall(permit, { ...ended, answeredAtMs: takenAtMs })
    takeMs.push(takenAtMs - askedAtMs)
    finishMs.push(performance.now() - takenAtMs)
  }
  return [
    { measure: 'a permit taken: p50', value: percentile(takeMs, 0.5), unit: 'ms' },
    { measure: 'a permit taken: p99', value: percentile(takeMs, 0.99), unit: 'ms' },
    { measure: 'a call finished: p50', value: percentile(finishMs, 0.5), unit: 'ms' },
  ]
}
