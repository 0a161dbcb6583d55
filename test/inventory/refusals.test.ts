import { expect, test } from 'vitest'
import { listCalls, loadRun } from '#src/inventory/runs/list-runs.ts'
import { syncInventory } from '#src/inventory/sync.ts'
import type { FaultInput } from '#src/sandbox/faults.ts'
import { openFerryHarness } from '#test/support/ferry-harness.ts'
import { rules, scriptedAccount, syncListed, upTo, withAccounts } from './scripted-account.ts'

/** For who waits for a platform that never answers. */
const IMPATIENT = { FERRY_REQUEST_TIMEOUT: '1s' }

const FAULTS: Record<string, { fault: FaultInput; code: string; requests: number }> = {
  'a wrong key': { fault: { kind: 'error', code: 'Unauthorized' }, code: 'Unauthorized', requests: 1 },
  'no permission': { fault: { kind: 'error', code: 'AccessDenied' }, code: 'AccessDenied', requests: 1 },
  'an empty balance': {
    fault: { kind: 'error', code: 'BalanceNotEnough' },
    code: 'BalanceNotEnough',
    requests: 1,
  },
  'a server error': { fault: { kind: 'error', code: 'InternalError' }, code: 'InternalError', requests: 3 },
  'a platform that never answers': { fault: { kind: 'hang' }, code: 'NoAnswer', requests: 3 },
  'a dropped connection': { fault: { kind: 'drop' }, code: 'NoAnswer', requests: 3 },
  'a truncated answer': { fault: { kind: 'truncate' }, code: 'NoAnswer', requests: 3 },
  'a page of HTML': { fault: { kind: 'html' }, code: 'NoEnvelope', requests: 3 },
  'a 2xx without data': { fault: { kind: 'no-data' }, code: 'ContractViolation', requests: 3 },
  'a 2xx of the wrong types': { fault: { kind: 'wrong-types' }, code: 'ContractViolation', requests: 3 },
  'an empty answer': { fault: { kind: 'empty' }, code: 'NoEnvelope', requests: 3 },
  'a 2xx that holds an error': {
    fault: { kind: 'error-in-2xx', code: 'InternalError' },
    code: 'InternalError',
    requests: 3,
  },
}

for (const [name, { fault, code, requests }] of Object.entries(FAULTS)) {
  for (const resource of ['alert-rules', 'mcp-servers'] as const) {
    test(`${name} fails the run of ${resource}, in words, and touches nothing`, async () => {
      await using harness = await openFerryHarness(
        { rules: 5, servers: 5 },
        fault.kind === 'hang' ? IMPATIENT : {},
      )
      await harness.sync({ resource })
      const before = await harness.query('select to_jsonb(v) from ferry.alert_rule_versions v')
      harness.sandbox.state.inject(fault)
      const result = await harness.sync({ resource })
      expect(result).toMatchObject({ status: 'failed', errorCode: code, requests, added: 0, removed: 0 })
      expect(result.message).toMatch(/\w+ .*\./)
      if (fault.kind === 'error') expect(result.requestId).toBeTruthy()
      const ended = { status: 'failed', errorCode: code, requestId: result.requestId }
      expect(await loadRun(harness.ferry.pool, result.run)).toMatchObject({ run: ended })
      expect(await harness.query('select to_jsonb(v) from ferry.alert_rule_versions v')).toEqual(before)
      harness.sandbox.state.clearFaults()
      expect(await harness.sync({ resource })).toMatchObject({ status: 'succeeded', unchanged: 5 })
    })
  }
}

test('a platform that is down fails the run without a call counted', async () => {
  await using harness = await openFerryHarness()
  await harness.sandbox.close()
  const result = await harness.sync()
  expect(result).toMatchObject({ status: 'failed', errorCode: 'NotSent' })
  expect(await listCalls(harness.ferry.pool, result.run)).toEqual([])
})

test("a 429 from someone else's use costs no attempt and fails nothing", async () => {
  await using harness = await openFerryHarness({ rules: 5 })
  const busy = { kind: 'error', code: 'RequestTooFrequently', retryAfterS: 0 } as const
  for (const nth of [1, 2, 3]) harness.sandbox.state.inject(busy, { nth })
  const result = await harness.sync()
  expect(result).toMatchObject({ status: 'succeeded', added: 5 })
  const calls = await listCalls(harness.ferry.pool, result.run)
  expect(calls.map(call => call.httpStatus)).toEqual([429, 429, 429, 200])
})

test('a fault that passes is not noticed but in the call log', async () => {
  await using harness = await openFerryHarness({ rules: 5 })
  harness.sandbox.state.inject({ kind: 'error', code: 'ServiceUnavailable' }, { nth: 1 })
  expect(await harness.sync()).toMatchObject({ status: 'succeeded', added: 5, requests: 2 })
})

test('a run that was refused half-way says how many pages it had read', async () => {
  await using harness = await openFerryHarness({ rules: 0, servers: 4 }, { FERRY_PAGE_LIMIT: '2' })
  harness.sandbox.state.inject({ kind: 'error', code: 'AccessDenied' }, { nth: 2 })
  const { run } = await harness.sync({ resource: 'mcp-servers' })
  expect(await loadRun(harness.ferry.pool, run)).toMatchObject({
    run: { status: 'failed', errorCode: 'AccessDenied', pages: 1 },
  })
})

test('a run that a fault ends in its second listing says how many pages it had read', async () => {
  await using harness = await openFerryHarness({ rules: 0, servers: 0 })
  const listed = rules(upTo(20))
  await syncListed(harness, [listed])
  const faulty = scriptedAccount('default', n => {
    if (n === 2) throw new Error('a fault')
    return listed.slice(1)
  })
  const request = { account: 'default', resource: 'alert-rules', trigger: 'manual' } as const
  const signal = new AbortController().signal
  await expect(syncInventory(withAccounts(harness, faulty), request, signal)).rejects.toThrow('a fault')
  expect(await loadRun(harness.ferry.pool, 2n)).toMatchObject({
    run: { status: 'failed', errorCode: 'Fault', pages: 1 },
  })
})
