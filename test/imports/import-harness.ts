import type { ImportContext } from '#src/imports/context.ts'
import { BATCH_CHECKS } from '#src/imports/reporting/verify-batches.ts'
import { DECISION_CHECKS } from '#src/imports/reporting/verify-decisions.ts'
import { ROW_CHECKS } from '#src/imports/reporting/verify-rows.ts'
import type { WorkEnd } from '#src/imports/sending/send-batches.ts'
import { workImport } from '#src/imports/sending/work.ts'
import type { FaultInput } from '#src/sandbox/faults.ts'
import type { SandboxOptions } from '#src/sandbox/options.ts'
import { type CallSeen, SANDBOX_PAGE_ID } from '#src/sandbox/state.ts'
import { type FerryHarness, openFerryHarness } from '#test/support/ferry-harness.ts'
import { type StagedImport, stageRows } from '#test/support/staged.ts'
import { brokenPromises } from '#test/support/verify.ts'
import { watchSums } from './watch-sums.ts'

export const NEVER = new AbortController().signal
export const OTHER_PAGE = 6_000_000_000_001n
export const APPLIED_AND_FAILED = { kind: 'error', code: 'InternalError', applied: true } as const

/** Quick limits, and times short enough to be waited for. */
const QUICK = {
  FERRY_IMPORT_LIMIT: '50/1s',
  FERRY_ARRIVAL_BOUND: '500ms',
  FERRY_REQUEST_TIMEOUT: '1s',
}

export type ImportHarness = FerryHarness & {
  stage(staged?: StagedImport): Promise<bigint>
  work(
    id: bigint,
    options?: { ferry?: ImportContext; signal?: AbortSignal; cutOff?: AbortSignal; yieldAfterCalls?: number },
  ): Promise<WorkEnd>
  /** How often each recipient of a page was delivered, by recipient. */
  delivered(pageId?: bigint): Map<string, number>
  /** How many were delivered once, how many twice and so on. */
  timesDelivered(pageId?: bigint): Record<string, number>
  importRow(id: bigint): Promise<ImportRow>
  batches(id: bigint): Promise<BatchRow[]>
  rejects(id: bigint): Promise<RejectRow[]>
  /** How many calls imports have made so far. */
  calls(): number
}

export type ImportRow = {
  status: string
  read: number
  recipients: number
  failures: number
  unaccepted: number
  accepted: number
  max_rows: number | null
  retry_at: Date | null
  finished_at: Date | null
  pause_code: string | null
  pause_message: string | null
  pause_what_to_do: string | null
  pause_request_id: string | null
}

export type BatchRow = {
  id: string
  from_line: string
  to_line: string
  rows: number
  state: string
  resends: number
  uncertain: boolean
  error_code: string | null
  request_id: string | null
  message: string | null
  call_id: string | null
}

export type RejectRow = {
  line: string
  origin: string
  reason: string
  message: string
  error_code: string | null
  request_id: string | null
  raw: string | null
}

/**
 * Ferry, a database and a sandbox; at the end every row of every import is accounted for, and `ferry verify` finds nothing in
 * them, or the test fails.
 */
export async function openImportHarness(
  sandbox: Partial<SandboxOptions> = {},
  env: Record<string, string> = {},
): Promise<ImportHarness> {
  await using opened = new AsyncDisposableStack()
  const harness = opened.use(
    await openFerryHarness({ rules: 1, servers: 1, ...sandbox }, { ...QUICK, ...env }),
  )
  const watch = watchSums(harness.ferry.pool)
  opened.defer(async () => {
    const checks = [...ROW_CHECKS, ...BATCH_CHECKS, ...DECISION_CHECKS]
    const wrong = [...(await watch.stop()), ...(await brokenPromises(harness.ferry.pool, checks))]
    if (wrong.length > 0) throw new Error(`Not all rows were accounted for: ${wrong.join('; ')}`)
  })
  const kept = opened.move()
  const one = async <Row>(sql: string, id: bigint) => (await harness.query<Row>(sql, [id]))[0]!
  return {
    ...harness,
    stage: staged => stageRows(harness.ferry.pool, staged),
    work: (id, { ferry = harness.ferry, signal = NEVER, ...options } = {}) =>
      workImport(ferry, id, { signal, ...options }),
    delivered: (pageId = SANDBOX_PAGE_ID) =>
      new Map(
        harness.sandbox.state.subscribers.list(pageId, 'email').map(one => [one.recipient, one.deliveries]),
      ),
    timesDelivered: (pageId = SANDBOX_PAGE_ID) => {
      const times: Record<string, number> = {}
      for (const { deliveries } of harness.sandbox.state.subscribers.list(pageId, 'email')) {
        const word = ['', 'once', 'twice'][deliveries] ?? `${deliveries} times`
        times[word] = (times[word] ?? 0) + 1
      }
      return times
    },
    importRow: id => one<ImportRow>('select * from ferry.imports where id = $1', id),
    batches: id =>
      harness.query<BatchRow>(
        `select * from ferry.import_batches where import_id = $1 and state <> 'split' order by from_line`,
        [id],
      ),
    rejects: id =>
      harness.query<RejectRow>('select * from ferry.import_rejects where import_id = $1 order by line', [id]),
    calls: () =>
      harness.sandbox.state.received.filter(call => call.operation === 'import-subscribers').length,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

/** Whom the body of a call holds. */
export function recipientsOf(body: unknown): string[] {
  return (body as { subscribers: { recipient: string }[] }).subscribers.map(one => one.recipient)
}

/** Does something while the next call is under way, which is then answered with `fault`, or as usual. */
export function during(harness: ImportHarness, act: () => Promise<unknown>, fault?: FaultInput): void {
  const before = harness.calls()
  harness.sandbox.state.onCall(async () => {
    if (harness.calls() !== before + 1) return undefined
    await act()
    return fault
  })
}

/** A refusal that blames a row, without saying which. */
export const NAMELESS = {
  kind: 'error',
  code: 'InvalidParameter',
  message: 'A recipient is not valid.',
} as const

/** Which of the recipients on these lines a call holds. */
export const bad = (...lines: number[]) => {
  const recipients = new Set(lines.map(line => `p${line}@example.com`))
  return ({ body }: CallSeen) => recipientsOf(body).filter(recipient => recipients.has(recipient))
}
