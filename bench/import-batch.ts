import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { OwnCall } from '#src/db/known-database.ts'
import { acquireLease } from '#src/db/leases.ts'
import type { ImportContext } from '#src/imports/context.ts'
import { leaseNameOf } from '#src/imports/page.ts'
import { newClaim } from '#src/imports/sending/claims.ts'
import { sendBatch } from '#src/imports/sending/send.ts'
import { startImport } from '#src/imports/sending/start.ts'
import { stepsOf } from '#src/imports/sending/steps.ts'
import { findImport } from '#src/imports/sending/work.ts'
import { SANDBOX_PAGE_ID } from '#src/sandbox/state.ts'
import { stageRows } from '#test/support/staged.ts'
import { atMost, median, percentile } from './support/figures.ts'
import { type Bench, NEVER, settingsFor } from './support/lab.ts'

const ROWS = 500
/** The first ones pay for connections and for code that is not compiled yet. */
const WARM_UP = 10

/**
 * What a batch costs on our side: claimed with its slot, its rows read and made a request, the outcome recorded. The
 * time from the last byte sent to the last one received is the platform's, and left out. One batch at a time, as nobody
 * else's work is to be measured with it.
 */
export const importBatch: Bench = async lab => {
  const batches = lab.size(200, 20) + WARM_UP
  const sandbox = await lab.openSandbox({})
  const ferry = await lab.openFerry(
    settingsFor(await lab.openDatabase(), sandbox, { FERRY_IMPORT_LIMIT: '1000/1ms' }),
  )
  const { pool, accounts, log, holder, arrivalBoundMs, requestTimeoutMs }: ImportContext = ferry
  const account = accounts.get('default')
  const importId = await stageRows(pool, { rows: batches * ROWS, batchRows: ROWS })
  const head = await findImport(pool, importId)
  if (!account || !head) throw new Error('there is nothing to work on')
  const lease = await acquireLease(pool, leaseNameOf(head), holder, log)
  if ('heldBy' in lease) throw new Error('another process holds the lease')
  lab.defer(() => lease.release())
  await startImport(pool, importId, lease, NEVER)
  const claimMs = arrivalBoundMs + requestTimeoutMs
  const context = {
    pool,
    importId,
    account: 'default',
    lease,
    limit: account.importLimit,
    arrivalBoundMs,
    ownCall: new OwnCall(),
    noticeDatabase: async () => null,
    claimMs,
  }
  const steps = stepsOf(context, NEVER)
  const page = { client: account.client, pageId: SANDBOX_PAGE_ID, method: 'email' }
  const sender = { steps, ...page, cutOff: NEVER, log }

  const exchanges = watchExchanges()
  lab.defer(exchanges.stop)
  const ours: number[] = []
  const theirs: number[] = []
  for (let batch = 0; batch < batches; batch++) {
    const startedAtMs = performance.now()
    const claimed = await steps.claim(newClaim())
    if (claimed.what !== 'claimed') throw new Error(`batch ${batch} was not claimed but: ${claimed.what}`)
    const state = await sendBatch(sender, claimed.claim)
    const tookMs = performance.now() - startedAtMs
    if (state?.accepted !== batch + 1) throw new Error(`batch ${batch} was not accepted`)
    theirs.push(exchanges.lastMs())
    ours.push(tookMs - exchanges.lastMs())
  }
  const what = `a batch of ${ROWS}, claimed and recorded`
  return [
    {
      measure: `${what}: p50`,
      value: median(ours.slice(WARM_UP)),
      rounds: { ours, theirs },
      unit: 'ms',
      wanted: atMost(20),
    },
    { measure: `${what}: p95`, value: percentile(ours.slice(WARM_UP), 0.95), unit: 'ms' },
    { measure: "the platform's part, left out: p50", value: median(theirs.slice(WARM_UP)), unit: 'ms' },
  ]
}

/** How long the platform had the last request, by what undici tells. */
function watchExchanges() {
  let sentAtMs = Number.NaN
  let lastMs = Number.NaN
  const onSent = () => {
    sentAtMs = performance.now()
    lastMs = Number.NaN
  }
  const onAnswered = () => {
    lastMs = performance.now() - sentAtMs
  }
  subscribe('undici:request:bodySent', onSent)
  subscribe('undici:request:trailers', onAnswered)
  return {
    lastMs() {
      if (Number.isNaN(lastMs)) throw new Error('no answer was seen')
      return lastMs
    },
    async stop() {
      unsubscribe('undici:request:bodySent', onSent)
      unsubscribe('undici:request:trailers', onAnswered)
    },
  }
}
