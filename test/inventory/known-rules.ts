import { type FerryHarness, openFerryHarness } from '#test/support/ferry-harness.ts'
import { rules, syncListed, upTo } from './scripted-account.ts'

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
