import { describe, expect, test } from 'vitest'
import type { ImportContext } from '#src/imports/context.ts'
import { cancelImport, pauseImport, resolveUncertain, resumeImport } from '#src/imports/control.ts'
import { loadSummary } from '#src/imports/progress.ts'
import { sendBatch } from '#src/imports/send.ts'
import type { FaultInput } from '#src/sandbox/faults.ts'
import { SANDBOX_PAGE_ID } from '#src/sandbox/state.ts'
import { claimBatch } from '#src/store/imports/claims.ts'
import { findImport, leaseNameOf, startImport } from '#src/store/imports/start.ts'
import { settleLostClaims } from '#src/store/imports/waiting.ts'
import { acquireLease } from '#src/store/leases.ts'
import { putBatches } from '#test/support/batches.ts'
import { waitFor } from '#test/support/wait-for.ts'
import { type ImportWorld, NEVER, setup } from './import-world.ts'

/** What happens to an import while a call of it is under way. */

const APPLIED_AND_FAILED = { kind: 'error', code: 'InternalError', applied: true } as const

/** Does something while the next call is under way, which is then answered with `fault`, or as usual. */
function during(world: ImportWorld, act: () => Promise<unknown>, fault?: FaultInput): void {
  const before = world.calls()
  world.sandbox.state.onCall(async () => {
    if (world.calls() !== before + 1) return undefined
    await act()
    return fault
  })
}

describe('a person who decides while a call fails that would pause the import', () => {
  const FAILING: [why: string, before: string, fault: FaultInput][] = [
    ['the platform refuses the key', '', { kind: 'error', code: 'Unauthorized' }],
    ['it is the tenth failure', 'failures = 9', { kind: 'error', code: 'ServiceUnavailable' }],
    ['it is the twelfth refusal', 'unaccepted = 11', { kind: 'error', code: 'InvalidParameter' }],
    [
      'there is no such page',
      '',
      { kind: 'error', code: 'ResourceNotFound', message: `${SANDBOX_PAGE_ID}?` },
    ],
  ]
  const BY_A_PERSON = { pause_code: null, pause_request_id: null }

  test.for(FAILING)('is not overruled: %s', async ([, before, fault]) => {
    await using world = await setup()
    const { pool } = world.ferry
    const stage = async () => {
      const id = await world.stage({ rows: 2 })
      if (before) await world.query(`update ferry.imports set ${before} where id = $1`, [id])
      return id
    }
    const cancelled = await stage()
    during(world, () => cancelImport(pool, cancelled), fault)
    expect(await world.work(cancelled)).toBe('cancelled')
    expect(await world.importRow(cancelled)).toMatchObject({ finished_at: expect.any(Date), ...BY_A_PERSON })
    expect(await loadSummary(pool, cancelled)).toMatchObject({
      status: 'cancelled',
      pending: 2,
      uncertain: 0,
    })

    const paused = await stage()
    during(world, () => pauseImport(pool, paused), fault)
    expect(await world.work(paused)).toBe('paused')
    expect(await world.importRow(paused)).toMatchObject({
      pause_message: 'It was paused by a person.',
      ...BY_A_PERSON,
    })
    await cancelImport(pool, paused)

    const resumed = await stage()
    const pauseAndResume = async () => {
      await pauseImport(pool, resumed)
      await resumeImport(pool, resumed)
    }
    during(world, pauseAndResume, fault)
    expect(await world.work(resumed)).toBe('waiting')
    expect(await world.importRow(resumed)).toMatchObject({ status: 'queued', ...BY_A_PERSON })
  })
})

describe('deciding about uncertain batches', () => {
  test('leaves alone the one whose call is under way, and the import goes on', async () => {
    await using world = await setup()
    const { pool } = world.ferry
    const id = await world.stage({ rows: 6, batchRows: 2, onUncertain: 'hold' })
    world.sandbox.state.inject(APPLIED_AND_FAILED, { nth: 1 })
    world.sandbox.state.inject(APPLIED_AND_FAILED, { nth: 2 })
    let decided: unknown
    world.sandbox.state.onCall(async () => {
      if (world.calls() === 2) decided = await resolveUncertain(pool, id, 'sent', null)
      return undefined
    })
    expect(await world.work(id)).toBe('undecided')
    expect(decided).toEqual({ batches: 1, rows: 2, status: 'running' })
    expect((await world.batches(id)).map(batch => batch.state)).toEqual(['sent', 'uncertain', 'sent'])
    expect(await loadSummary(pool, id)).toMatchObject({ sent: 4, uncertain: 2, pending: 0 })
    expect(world.timesDelivered()).toEqual({ once: 6 })
  })

  test('does not decide about a call under way because an earlier one of its batch was uncertain', async () => {
    await using world = await setup()
    const { pool } = world.ferry
    const id = await world.stage({ rows: 2 })
    const refusals: string[] = []
    world.sandbox.state.onCall(async () => {
      if (world.calls() === 1) return APPLIED_AND_FAILED
      for (const as of ['sent', 'resend'] as const) {
        refusals.push(await resolveUncertain(pool, id, as, null).catch(error => error.message))
      }
      return undefined
    })
    expect(await world.work(id)).toBe('completed')
    expect(refusals).toEqual(Array(2).fill(expect.stringContaining('it has no uncertain batch')))
    expect(await world.batches(id)).toMatchObject([{ state: 'sent', resends: 1, uncertain: false }])
  })

  test.for(['sent', 'resend'] as const)(
    'as %s stands, whatever the answer says that comes after all',
    async as => {
      await using world = await setup({}, { FERRY_REQUEST_TIMEOUT: '20s' })
      const { pool } = world.ferry
      for (const fault of [
        undefined,
        { kind: 'error', code: 'InvalidParameter', message: 'p2@example.com is bad' },
        APPLIED_AND_FAILED,
      ] as const) {
        const id = await world.stage({ rows: 2, onUncertain: 'hold' })
        const decide = async () => {
          await world.query(
            'update ferry.import_batches set claim_ends_at = clock_timestamp() where import_id = $1',
            [id],
          )
          await settleLostClaims(pool)
          await resolveUncertain(pool, id, as, null)
          await pauseImport(pool, id)
        }
        during(world, decide, fault)
        expect(await world.work(id)).toBe('paused')
        expect(await world.batches(id)).toMatchObject([
          as === 'sent' ? { state: 'sent', resends: 0 } : { state: 'ready', resends: 1 },
        ])
        expect(await world.rejects(id)).toEqual([])
        expect(await world.importRow(id)).toMatchObject({ accepted: 0, unaccepted: 0, failures: 0 })
        await cancelImport(pool, id)
        await world.query(`update ferry.imports set page_id = 100 + id where id = $1`, [id])
      }
    },
  )

  test('about one import makes another look again at what it may have looked at before', async () => {
    await using world = await setup()
    const { pool } = world.ferry
    const first = await world.stage({ rows: 3 })
    const [stop, cutOff] = [new AbortController(), new AbortController()]
    world.sandbox.state.inject({ kind: 'hang', applied: true }, { nth: 1 })
    const working = world.work(first, { signal: stop.signal, cutOff: cutOff.signal })
    await waitFor(() => world.calls() === 1, { what: 'the call' })
    stop.abort()
    cutOff.abort()
    await working
    await pauseImport(pool, first)
    const second = await world.stage({ rows: 5 })
    during(world, async () => {}, { kind: 'error', code: 'Unauthorized' })
    expect(await world.work(second)).toBe('paused')

    // They were sent before the second import looked; that they were is known only now.
    expect(await resolveUncertain(pool, first, 'sent', null)).toMatchObject({ rows: 3 })
    await resumeImport(pool, second)
    expect(await world.work(second)).toBe('completed')
    expect(world.timesDelivered()).toEqual({ once: 5 })
    expect(await loadSummary(pool, second)).toMatchObject({ sent: 2, alreadyImported: 3 })
  })
})

test('after calls that failed there is one at a time, until one is accepted', {
  timeout: 60_000,
}, async () => {
  await using world = await setup({}, { FERRY_REQUEST_TIMEOUT: '30s' })
  const id = await world.stage({ rows: 12, batchRows: 1 })
  await world.query('update ferry.imports set accepted = 1')
  let [begun, isAlone] = [0, true]
  world.sandbox.state.onCall(async () => {
    const nth = ++begun
    if (nth <= 4) {
      await waitFor(() => begun >= 4, { what: 'four calls', timeoutMs: 20_000 })
      return { kind: 'error', code: 'ServiceUnavailable' }
    }
    if (nth > 5) return undefined
    // Whoever were to come beside it would come now.
    await waitFor(() => begun > 5, { what: 'nobody', timeoutMs: 1_500 }).catch(() => {})
    isAlone = begun === 5
    return undefined
  })
  const working = world.work(id)
  const failures = async () => (await world.importRow(id)).failures
  await waitFor(async () => (await failures()) === 4, { what: 'four failures', timeoutMs: 20_000 })
  await world.query('update ferry.imports set retry_at = null')
  expect(await working).toBe('completed')
  expect({ begun, isAlone }).toEqual({ begun: 16, isAlone: true })
})

test('a slot that nobody was handed is given back, and its batch is as if it had not been claimed', async () => {
  await using world = await setup()
  const { pool, accounts, holder, log, arrivalBoundMs, requestTimeoutMs } = world.ferry as ImportContext
  const { importLimit: limit, client } = accounts.get('default')!
  const importId = await world.stage({ rows: 3 })
  const lease = await acquireLease(pool, leaseNameOf((await findImport(pool, importId))!), holder, log)
  if ('heldBy' in lease) throw new Error('the lease is taken')
  await startImport(pool, importId, lease, NEVER)
  const claimer = { pool, importId, lease, limit, arrivalBoundMs, claimMs: arrivalBoundMs + requestTimeoutMs }
  const claimed = await claimBatch(claimer)
  if (claimed.what !== 'claimed') throw new Error(`nothing was claimed: ${claimed.what}`)
  const sender = {
    claimer,
    client,
    pageId: SANDBOX_PAGE_ID,
    method: 'email',
    cutOff: AbortSignal.abort(),
    log,
  }
  expect(await sendBatch(sender, claimed)).toBeNull()
  await lease.release()
  expect(world.calls()).toBe(0)
  expect(await world.query('select from ferry.platform_calls')).toEqual([])
  expect(
    await world.query(
      'select state, claim, call_id, claim_ends_at, resends, uncertain from ferry.import_batches',
    ),
  ).toEqual([
    { state: 'ready', claim: null, call_id: null, claim_ends_at: null, resends: 0, uncertain: false },
  ])
  expect(await loadSummary(pool, importId)).toMatchObject({ requests: 0, pending: 3 })
})

test('what was uncertain stays so after a refusal, until a certain outcome', async () => {
  await using world = await setup()
  const id = await world.stage({ rows: 2 })
  const uncertain: boolean[] = []
  world.sandbox.state.onCall(async ({ number }) => {
    uncertain.push((await world.batches(id))[0]?.uncertain ?? false)
    if (number === 1) return APPLIED_AND_FAILED
    return number === 2 ? { kind: 'error', code: 'ServiceUnavailable' } : undefined
  })
  await waitFor(
    async () => {
      // The import backs off after a failure; nobody needs to wait for that here.
      await world.query('update ferry.imports set retry_at = null')
      return (await world.work(id)) === 'completed'
    },
    { what: 'the import to end', timeoutMs: 60_000 },
  )
  expect(uncertain).toEqual([false, true, true])
  expect(await world.batches(id)).toMatchObject([{ state: 'sent', uncertain: false, resends: 1 }])
})

test('a row refused alone is a reject as soon as another call is accepted, not only at the end', async () => {
  await using world = await setup()
  const id = await world.stage({ rows: 3, batchRows: 1 })
  const rejected: number[] = []
  world.sandbox.state.onCall(async ({ body }) => {
    rejected.push((await loadSummary(world.ferry.pool, id)).rejected)
    const isBad = JSON.stringify(body).includes('"p2@example.com"')
    return isBad ? { kind: 'error', code: 'InvalidParameter', message: 'Not valid.' } : undefined
  })
  expect(await world.work(id)).toBe('completed')
  expect(rejected).toEqual([0, 0, 1])
})

describe('the first rows', () => {
  test('are as many as were asked for, though one is rejected and batches are split', async () => {
    await using world = await setup({ maxSubscribers: 2 })
    world.sandbox.state.onCall(({ body }) =>
      JSON.stringify(body).includes('"p3@example.com"')
        ? { kind: 'error', code: 'InvalidParameter', message: 'A recipient is not valid.' }
        : undefined,
    )
    const id = await world.stage({ rows: 14, batchRows: 4, firstRows: 5 })
    expect(await world.work(id)).toBe('paused')
    expect(await world.importRow(id)).toMatchObject({ pause_code: 'FirstRowsSent' })
    expect(await loadSummary(world.ferry.pool, id)).toMatchObject({ sent: 4, rejected: 1, pending: 9 })
    expect([...world.delivered().keys()].sort()).toEqual([2, 4, 5, 6].map(line => `p${line}@example.com`))
    await resumeImport(world.ferry.pool, id)
    expect(await world.work(id)).toBe('completed')
    expect(world.timesDelivered()).toEqual({ once: 13 })
  })
})

test('what another account has sent to a page of the same number is nothing to this one', async () => {
  await using world = await setup()
  const { pool } = world.ferry
  const other = await world.stage({ account: 'eu', rows: 4, status: 'undecided', onUncertain: 'hold' })
  await putBatches(pool, other, [
    { lines: 2, state: 'sent' },
    { lines: 2, state: 'uncertain', uncertain: true },
  ])
  const id = await world.stage({ rows: 4, onUncertain: 'hold' })
  expect(await world.work(id)).toBe('completed')
  expect(world.timesDelivered()).toEqual({ once: 4 })
  expect(await resolveUncertain(pool, other, 'sent', null)).toMatchObject({ batches: 1, status: 'completed' })
  expect(await loadSummary(pool, id)).toMatchObject({ sent: 4, alreadyImported: 0 })
})
