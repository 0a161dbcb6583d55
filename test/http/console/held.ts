import { expect } from 'vitest'
import { type ConsoleHarness, openConsoleHarness } from './console-harness.ts'

/** Where the holds are. */
export const PATH = '/ledger/holds'
export const RULES = 30
export const GONE = 15

/** Of thirty rules, the platform does not list fifteen any more. Returns the page of the hold. */
export async function hold(harness: ConsoleHarness): Promise<{ path: string; run: bigint; gone: string[] }> {
  const { state } = harness.sandbox
  await harness.sync()
  const gone = [...state.rules.rows()].slice(0, GONE).map(({ id }) => id)
  for (const id of gone) state.removeRule(id)
  const { run, status } = await harness.sync()
  expect(status).toBe('held')
  return { path: `${PATH}/${run}`, run, gone: gone.map(String) }
}

/** A console of an account with thirty rules. */
export const open = (options: Parameters<typeof openConsoleHarness>[0] = {}) =>
  openConsoleHarness(options, { rules: RULES, servers: 0 })

/** How many rules are current. */
export const stored = async (harness: ConsoleHarness) =>
  (await harness.query('select from ferry.alert_rules')).length
