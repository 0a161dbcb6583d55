import { expect, test } from 'vitest'
import { type InsteadOf, openGateway } from '#test/support/gateway.ts'
import { openImportHarness } from '../imports/import-harness.ts'

/*
 * A gateway answers for the platform at once, and the platform counts the call late, though within the arrival bound. Several
 * imports share the limit, so that one backs off while others go on. What is measured is what the platform counts, and when.
 */

const WINDOWS = [
  { max: 2, windowMs: 300 },
  { max: 6, windowMs: 1_500 },
]
const FERRY_IMPORT_LIMIT = WINDOWS.map(({ max, windowMs }) => `${max}/${windowMs}ms`).join(',')

const half: InsteadOf = response => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': 100 })
  response.write('{"request_id":', () => response.destroy())
}
const own =
  (status: number): InsteadOf =>
  response =>
    response
      .writeHead(status, { 'content-type': 'application/json' })
      .end('{"error":{"code":"upstream_timeout","message":"No."}}')

test.for([
  ['half an answer', half],
  ['its own 503', own(503)],
  ['its own 504', own(504)],
] as const)(
  'no rolling window of the platform has too many calls, if a gateway answers before it with %s',
  async ([, instead]) => {
    // The platform counts well within the arrival bound, however busy this machine is.
    const late = { arriveMs: [0, 1_500] as const }
    const env = { FERRY_IMPORT_LIMIT, FERRY_ARRIVAL_BOUND: '5s', FERRY_REQUEST_TIMEOUT: '10s' }
    await using harness = await openImportHarness(late, env)
    const { state } = harness.sandbox
    await using gateway = await openGateway(harness.sandbox.baseUrl, n => (n % 3 === 0 ? instead : null), {
      isEarly: true,
    })
    const ferry = await harness.openFerry({ FERRY_BASE_URL: gateway.url })
    const pages = [1n, 2n, 3n, 4n]
    for (const pageId of pages) state.subscribers.addPage(pageId)
    const ids = await Promise.all(pages.map(pageId => harness.stage({ rows: 8, batchRows: 2, pageId })))
    expect(await Promise.all(ids.map(id => harness.work(id, { ferry })))).toEqual(
      pages.map(() => 'completed'),
    )
    for (const { max, windowMs } of WINDOWS) {
      expect(state.maxInAnyWindow('import-subscribers', windowMs)).toBeLessThanOrEqual(max)
    }
    // A third of the calls were answered so, and each of their batches was sent again.
    expect(harness.calls()).toBeGreaterThan(20)
  },
)
