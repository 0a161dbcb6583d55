import { expect, onTestFinished, test, vi } from 'vitest'
import { platformFindings } from '#src/cli/doctor/platform.ts'
import type { Ferry } from '#src/ferry.ts'
import { type FerryHarness, openFerryHarness } from '#test/support/ferry-harness.ts'

const NEVER = new AbortController().signal
const UNTIL = new Date('2026-11-24T03:12:00Z')

const findingsOf = (harness: FerryHarness, instead: Partial<Ferry> = {}) =>
  Array.fromAsync(platformFindings({ ...harness.ferry, ...instead } as Ferry, NEVER, () => {}))

const listed = (what: string) => ({
  check: 'platform',
  status: 'ok',
  found: expect.stringMatching(
    new RegExp(`^account default: the platform lists ${what} \\(request_id [\\da-f]+\\)$`),
  ),
})

const REFUSED = {
  check: 'platform',
  status: 'fail',
  whatToDo:
    'Wait until then. If it happens again, another program may be using the same account, or the limits of Ferry may be too high.',
  exit: 4,
}

test.for([
  ['with its request_id', { requestId: 'r-1', hasRefused: true }, { ...REFUSED, found: ' (request_id r-1)' }],
  ['without one', { requestId: null, hasRefused: true }, { ...REFUSED, found: '' }],
] as const)(
  'a limit of imports that the platform closed is told though none is called, %s',
  async ([, closed, told]) => {
    await using harness = await openFerryHarness({ rules: 3, servers: 2 })
    const findings = await findingsOf(harness, {
      findClosedLimit: async (_, operation) =>
        operation === 'import-subscribers' ? { until: UNTIL, ...closed } : null,
    })
    const found = `account default: the platform answers 429; import-subscribers is closed until 2026-11-24T03:12:00.000Z${told.found}`
    expect(findings).toEqual([listed('2 MCP servers'), listed('3 alert rules'), { ...told, found }])
  },
)

test('a limit that is closed because another database was noticed is a warning, and nothing is called', async () => {
  await using harness = await openFerryHarness()
  const closed = { until: UNTIL, requestId: null, hasRefused: false }
  const findings = await findingsOf(harness, { findClosedLimit: async () => closed })
  expect(findings).toEqual(
    ['list-mcp-servers', 'list-alert-rules', 'import-subscribers'].map(operation => ({
      check: 'platform',
      status: 'warn',
      found: `account default: no call of ${operation} is made until 2026-11-24T03:12:00.000Z, because another database was noticed`,
      whatToDo: 'Wait until then: calls made before may be missing in this database.',
    })),
  )
  expect(harness.sandbox.state.received).toEqual([])
})

test('a limit that other calls use up is a warning, and nothing is called', async () => {
  await using harness = await openFerryHarness()
  const late = new AbortController()
  const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(late.signal)
  onTestFinished(() => timeout.mockRestore())
  const acquirePermit = async () => {
    late.abort(new Error('late'))
    throw late.signal.reason
  }
  const findings = await findingsOf(harness, { throttle: { ...harness.ferry.throttle, acquirePermit } })
  expect(findings).toEqual(
    ['list-mcp-servers', 'list-alert-rules'].map(operation => ({
      check: 'platform',
      status: 'warn',
      found: `account default: the limit of ${operation} is used up; the platform was not called`,
      whatToDo: 'Run this again later, when the workers of this account make fewer calls.',
    })),
  )
  expect(harness.sandbox.state.received).toEqual([])
})

test('rows that cannot be read are not counted', async () => {
  await using harness = await openFerryHarness({ rules: 1, servers: 0 })
  harness.sandbox.breakContract()
  harness.sandbox.state.addRule({ name: 7 as never })
  expect(await findingsOf(harness)).toEqual([listed('0 MCP servers'), listed('1 alert rule')])
})

test('accounts that are one account on the platform are named with what joins them, unless they share their limits', async () => {
  await using harness = await openFerryHarness()
  await harness.query(
    `insert into ferry.platform_accounts (account, account_id, first_run)
     select unnest('{one,two,three}'::text[]), unnest('{77,77,78}'::numeric[]), 1`,
  )
  const grouped = (groups: Readonly<Record<string, string>>) =>
    findingsOf(harness, {
      accounts: new Map(),
      config: {
        ...harness.ferry.config,
        accounts: Object.entries(groups).map(([name, limitGroup]) => ({
          ...harness.ferry.config.accounts[0],
          ...{ name, limitGroup },
        })),
      } as never,
    })
  expect(await grouped({ one: 'g', two: 'g', three: 'h' })).toEqual([])
  expect(await grouped({ one: 'one', two: 'two', three: 'three' })).toEqual([
    {
      check: 'limits',
      status: 'warn',
      found: 'one and two are one account on the platform (77), which counts their calls together',
      whatToDo: 'Give them the same limitGroup in FERRY_ACCOUNTS_FILE.',
    },
  ])
})
