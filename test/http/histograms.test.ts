import { expect, test } from 'vitest'
import { createProcessMetrics } from '#src/http/process-metrics.ts'
import { NOTHING_DONE } from '#src/inventory/runs/ledger.ts'
import { readScrape } from './scrape.ts'

const CALL = {
  account: 'default',
  operation: 'list-alert-rules',
  httpStatus: 200,
  errorCode: null,
} as const
const RUN = {
  ...NOTHING_DONE,
  run: 1n,
  account: 'default',
  resource: 'alert-rules',
  status: 'succeeded',
} as const

test('how long calls and runs took is counted in buckets of seconds that suit each; a skipped run took no time', async () => {
  const metrics = createProcessMetrics()
  for (const ms of [60, 3_000]) metrics.observer.ended({ ...CALL, ms })
  for (const durationMs of [600, 90_000]) metrics.onRun({ ...RUN, durationMs })
  metrics.onRun({ ...RUN, status: 'skipped', durationMs: 1 })
  const { samples } = readScrape(await metrics.text())
  const histogram = (metric: string) =>
    samples
      .filter(({ name }) => name.startsWith(metric))
      .map(({ name, labels: { le = name.slice(metric.length + 1), ...labels }, value }) =>
        [...Object.values(labels), le, value].join(' '),
      )
  expect(histogram('ferry_call_duration_seconds')).toEqual(
    ['0.05 0', '0.1 1', '0.25 1', '0.5 1', '1 1', '2.5 1', '5 2', '10 2', '20 2', '+Inf 2']
      .concat('sum 3.06', 'count 2')
      .map(counted => `list-alert-rules ${counted}`),
  )
  expect(histogram('ferry_run_duration_seconds')).toEqual(
    ['0.25 0', '0.5 0', '1 1', '2.5 1', '5 1', '10 1', '30 1', '60 1', '180 2', '600 2', '+Inf 2']
      .concat('sum 90.6', 'count 2')
      .map(counted => `alert-rules succeeded ${counted}`),
  )
})
