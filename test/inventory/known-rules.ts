import { approveRun } from '#src/inventory/holds/approve.ts'
import { ADA } from '#test/support/acted-by.ts'
import { type FerryHarness, openFerryHarness } from '#test/support/ferry-harness.ts'
import { type Listed, rules, scriptedAccount, syncListed, upTo, withAccounts } from './scripted-account.ts'

export const SMALL = { rules: 0, servers: 0 }

/** Twenty rules in folder 1 and twenty in folder 2. */
export const EVERYTHING = [...rules(upTo(20)), ...rules(upTo(40).slice(20), { folder: 2n })]
export const keep = (...ids: number[]) => EVERYTHING.filter(rule => ids.includes(Number(rule.id)))
export const FOLDER_1 = { folders: [1n] }
export const FOLDER_2 = { folders: [2n] }

/** What became of each hold, and how many rows it holds. */
export function outcomes(harness: FerryHarness) {
  return harness.query('select outcome, cardinality(ids) as ids from ferry.removal_holds order by id')
}

/** All scopes known, everything stored. */
export async function openKnown(account?: string) {
  const harness = await openFerryHarness(SMALL)
  const of = account === undefined ? {} : { account }
  for (const scope of [{}, FOLDER_1, FOLDER_2]) await syncListed(harness, [EVERYTHING], { ...of, ...scope })
  return harness
}

/** The rows of the open holds. */
export function openHolds(harness: FerryHarness) {
  return harness.query<{ account: string; resource: string; ids: number[] }>(
    `select account, resource, array(select unnest(ids)::int order by 1) as ids from ferry.removal_holds
     where ended_at is null order by account, resource`,
  )
}

/** Approves what a run held, while the platform lists these. */
export function approve(harness: FerryHarness, run: bigint, listed: readonly Listed[], account = 'default') {
  return approveRun(
    withAccounts(
      harness,
      scriptedAccount(account, () => listed),
    ),
    run,
    ADA,
    new AbortController().signal,
  )
}
