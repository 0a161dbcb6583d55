import { expect, test } from 'vitest'
import { parseFault } from '#src/sandbox/fault-text.ts'
import { SANDBOX_PAGE_ID } from '#src/sandbox/state.ts'
import { call, importOf, openSmallSandbox } from './sandbox-harness.ts'

test.for([
  [
    'import:every=10:500',
    { kind: 'error', code: 'InternalError', applied: false },
    { operation: 'import-subscribers', every: 10 },
  ],
  ['import:nth=3:drop:applied', { kind: 'drop', applied: true }, { operation: 'import-subscribers', nth: 3 }],
  [
    'import:every=2:503:half',
    { kind: 'error', code: 'ServiceUnavailable', applied: 'half' },
    { operation: 'import-subscribers', every: 2 },
  ],
  ['rules:always:late=2s', { kind: 'late', ms: 2_000 }, { operation: 'list-alert-rules' }],
  ['servers:always:late=50ms', { kind: 'late', ms: 50 }, { operation: 'list-mcp-servers' }],
  ['list-mcp-servers:always:hang', { kind: 'hang', applied: false }, { operation: 'list-mcp-servers' }],
  [
    'any:every=1:NoLicense',
    { kind: 'error', code: 'NoLicense', applied: false },
    { operation: undefined, every: 1 },
  ],
  [
    'any:nth=1:400',
    { kind: 'error', code: 'InvalidParameter', applied: false },
    { operation: undefined, nth: 1 },
  ],
  ['any:nth=1:502:applied', { kind: 'html', status: 502, applied: true }, { operation: undefined, nth: 1 }],
  ['any:nth=1:truncate', { kind: 'truncate' }, { operation: undefined, nth: 1 }],
] as const)('%s', ([text, fault, when]) => {
  expect(parseFault(text)).toEqual({ fault, when })
})

test.for([
  ['import', 'Write OPERATION:WHEN:WHAT'],
  ['import:500', 'Write OPERATION:WHEN:WHAT'],
  ['import:nth=1:500:applied:x', 'Write OPERATION:WHEN:WHAT'],
  ['imports:nth=1:500', 'There is no operation imports. Write import, rules, servers, any.'],
  ['constructor:nth=1:500', 'There is no operation constructor'],
  ['import:nth=0:500', 'nth=0 does not say which calls fail'],
  ['import:each=2:500', 'each=2 does not say which calls fail'],
  ['import:nth=1:200', 'There is no fault 200'],
  ['import:nth=1:Novel', 'There is no fault Novel'],
  ['import:nth=1:late=2', 'There is no fault late=2'],
  ['import:nth=1:500:twice', 'twice does not say how much'],
  ['import:nth=1:truncate:applied', 'truncate always does the work. Leave out applied.'],
] as const)('%s is refused in words', ([text, words]) => {
  expect(() => parseFault(text)).toThrow(words)
})

test('every so many calls go wrong, those of the operation alone counted', async () => {
  await using sandbox = await openSmallSandbox({ limits: false })
  const { fault, when } = parseFault('import:every=3:503:half')
  sandbox.state.inject(fault, when)
  const statuses = []
  for (let n = 1; n <= 7; n += 1) {
    await call(sandbox, 'list-alert-rules')
    statuses.push(
      (await call(sandbox, 'import-subscribers', importOf(`${n}a@example.com`, `${n}b@example.com`))).status,
    )
  }
  expect(statuses).toEqual([200, 200, 503, 200, 200, 503, 200])
  expect(sandbox.state.subscribers.count(SANDBOX_PAGE_ID, 'email')).toBe(2 * 5 + 2)
})
