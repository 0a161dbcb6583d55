import { describe, expect, test } from 'vitest'
import { SANDBOX_PAGE_ID } from '#src/sandbox/state.ts'
import { fileHolding } from '#test/support/settings.ts'
import { waitFor } from '#test/support/wait-for.ts'
import { startWorker } from '../jobs/start-worker.ts'
import { openImportQueueHarness, RECONCILED_IMPORTS } from './import-queue-harness.ts'
import { BACKENDS } from './queue-harness.ts'

/** More than a worker with two accounts takes up at once. */
const HANGING_PAGES = Array.from({ length: 12 }, (_, page) => BigInt(page + 1))

describe.each(BACKENDS)('imports of an account whose platform hangs, on %s,', kind => {
  test('do not delay those of another account, however many they are', async () => {
    await using harness = await openImportQueueHarness(kind)
    const { sandbox } = harness
    sandbox.state.addKey({ key: 'well' })
    const { baseUrl } = sandbox
    const ferry = await harness.openFerry({
      FERRY_BASE_URL: '',
      FERRY_APP_KEY: '',
      FERRY_REQUEST_TIMEOUT: '10m',
      FERRY_ACCOUNTS_FILE: fileHolding({
        accounts: [
          { name: 'hanging', baseUrl, appKeyFile: fileHolding(sandbox.appKey) },
          { name: 'well', baseUrl, appKeyFile: fileHolding('well') },
        ],
      }),
    })
    let hanging = 0
    sandbox.state.onCall(({ body }) => {
      if (BigInt((body as { page_id: number }).page_id) === SANDBOX_PAGE_ID) return
      hanging += 1
      return { kind: 'hang' }
    })
    for (const pageId of HANGING_PAGES) {
      sandbox.state.subscribers.addPage(pageId)
      await harness.stage({ account: 'hanging', pageId, rows: 1 })
    }
    await using _worker = await startWorker(ferry, RECONCILED_IMPORTS)
    await waitFor(() => hanging >= 4, { what: 'as many as may be to hang' })

    const id = await harness.stage({ account: 'well', rows: 20, batchRows: 1 })
    await harness.ended(id)
    expect(harness.timesDelivered()).toEqual({ once: 20 })
    expect(hanging).toBe(4)
  })
})
