import { expect, test } from 'vitest'
import { pauseImport, resumeImport } from '#src/imports/control/decide.ts'
import { ADA } from '#test/support/acted-by.ts'
import { ACCEPTED, openScriptedWorker, refused, UNAVAILABLE } from '#test/support/scripted-worker.ts'
import { stageRows } from '#test/support/staged.ts'
import { openTestStore } from '#test/support/store.ts'

const IN_FIVE_MINUTES = refused(503, 'ServiceUnavailable', { retryAfterMs: 300_000 })

test.for([
  ['a 429', refused(429, 'RequestTooFrequently', { retryAfterMs: 1_000 })],
  ['a failure without a time', UNAVAILABLE],
  ['an acceptance', ACCEPTED],
] as const)(
  'an import backs off as long as it was asked to, though another call that was under way ends with %s',
  async ([, other]) => {
    await using store = await openTestStore()
    const id = await stageRows(store.pool, { rows: 6, batchRows: 1 })
    await using worker = await openScriptedWorker(store.pool, id)
    const backsOffMs = async () => {
      const { rows } = await store.pool.query(
        `select extract(epoch from retry_at - clock_timestamp())::float8 * 1000 as ms from ferry.imports where id = $1`,
        [id],
      )
      return rows[0].ms
    }
    await worker.send(await worker.claim(), ACCEPTED)
    const [first, second, third] = [await worker.claim(), await worker.claim(), await worker.claim()]
    await worker.send(first, UNAVAILABLE)
    expect(await backsOffMs()).toBeLessThan(2_000)
    await worker.send(second, IN_FIVE_MINUTES)
    await worker.send(third, other)
    expect(await backsOffMs()).toBeGreaterThan(290_000)
    await pauseImport(store.pool, id, ADA)
    await resumeImport(store.pool, id, ADA)
    expect(await backsOffMs()).toBeNull()
  },
)
