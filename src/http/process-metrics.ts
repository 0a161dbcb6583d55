import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client'
import type { CallObserver } from '#src/model/call.ts'
import type { RunResult } from '#src/model/run.ts'

/** What this process has done since it started, and its state. */
export type ProcessMetrics = {
  readonly observer: CallObserver
  /** Called with each finished run of this process. */
  readonly onRun: (run: RunResult) => void
  /** Called with each token that was wrong, or was not compared because too many were. */
  readonly onTokenFailure: (door: string, outcome: string) => void
  /** In the text format of Prometheus. */
  text(): Promise<string>
}

const CALL_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20]
const RUN_SECONDS = [0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 180, 600]

/** prom-client calls these gauges `_total`, which is for counters; `nodejs_active_resources` has the same figures. */
const MISNAMED = ['handles', 'requests', 'resources'].map(what => `ferry_nodejs_active_${what}_total`)

/** Bounds the number of series: the platform could answer with a new code each time. */
const MAX_CODES = 100

export function createProcessMetrics(): ProcessMetrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, prefix: 'ferry_' })
  for (const name of MISNAMED) registry.removeSingleMetric(name)
  const { runs, runSeconds, rows, changes, calls, callSeconds, waited, tokenFailures } = metricsIn(registry)
  const boundCode = createBound(MAX_CODES)

  return {
    observer: {
      waited: (account, operation, ms) => waited.inc({ account, operation }, ms / 1_000),
      ended({ account, operation, httpStatus, errorCode, ms }) {
        const status = httpStatus === null ? 'none' : String(httpStatus)
        calls.inc({ account, operation, status, code: boundCode(errorCode ?? 'none') })
        callSeconds.observe({ operation }, ms / 1_000)
      },
    },
    onRun({ account, resource: inventory, status, durationMs, seen, added, changed, removed }) {
      runs.inc({ account, inventory, status })
      if (status === 'skipped') return
      runSeconds.observe({ inventory, status }, durationMs / 1_000)
      rows.inc({ account, inventory }, seen)
      for (const [status, count] of Object.entries({ added, changed, removed })) {
        changes.inc({ account, inventory, status }, count)
      }
    },
    onTokenFailure: (door, outcome) => tokenFailures.inc({ door, outcome }),
    text: () => registry.metrics(),
  }
}

/** Registers the metrics of Ferry itself. */
function metricsIn(registry: Registry) {
  const counter = <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
    new Counter({ name, help, labelNames, registers: [registry] })
  const histogram = <Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
    buckets: number[],
  ) => new Histogram({ name, help, labelNames, buckets, registers: [registry] })

  const runs = counter('ferry_runs_total', 'Runs that ended in this process.', [
    'account',
    'inventory',
    'status',
  ])
  const runSeconds = histogram(
    'ferry_run_duration_seconds',
    'How long runs took in this process.',
    ['inventory', 'status'],
    RUN_SECONDS,
  )
  const rows = counter('ferry_rows_total', 'Rows that runs of this process listed.', ['account', 'inventory'])
  const changes = counter(
    'ferry_changes_total',
    'Rows that runs of this process added, changed or removed (status).',
    ['account', 'inventory', 'status'],
  )
  const calls = counter(
    'ferry_calls_total',
    'Calls of this process to the platform, by HTTP status ("none": no answer) and error code ("none": accepted).',
    ['account', 'operation', 'status', 'code'],
  )
  const callSeconds = histogram(
    'ferry_call_duration_seconds',
    'From the beginning of a call until its answer was read.',
    ['operation'],
    CALL_SECONDS,
  )
  const waited = counter(
    'ferry_limit_wait_seconds_total',
    'How long calls of this process waited for a limit.',
    ['account', 'operation'],
  )
  const tokenFailures = counter(
    'ferry_token_failures_total',
    'Tokens that this process did not accept: wrong ones, and those not compared after too many wrong ones (braked).',
    ['door', 'outcome'],
  )

  return { runs, runSeconds, rows, changes, calls, callSeconds, waited, tokenFailures }
}

/** Returns a function that passes the first `max` distinct texts through, and returns `other` for any more. */
function createBound(max: number): (text: string) => string {
  const known = new Set<string>()
  return text => {
    if (known.size < max) known.add(text)
    return known.has(text) ? text : 'other'
  }
}
