import { expect } from 'vitest'
import {
  bearing,
  type ConsoleHarness,
  hiddenFields,
  OPERATE_TOKEN,
  openConsoleHarness,
  sendForm,
} from './console-harness.ts'

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

/** What people did. */
export const acts = (harness: ConsoleHarness) =>
  harness.query('select action, actor, because, subject_id from ferry.audit order by id')

/** Opens the forms of both decisions. */
export function openForms(harness: ConsoleHarness, path: string) {
  return Promise.all(
    ['approve', 'reject'].map(async verb => {
      const at = `${path}/${verb}`
      return { at, text: (await harness.page(at, OPERATE_TOKEN)).text }
    }),
  )
}

/** Sends a form that was opened before. */
export function sendOpened(harness: ConsoleHarness, path: string, form: string) {
  return sendForm(harness.http.address + path, hiddenFields(form), bearing(OPERATE_TOKEN))
}
