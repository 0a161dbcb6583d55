import type { Pool } from 'pg'
import { allChecks } from '#src/cli/verify/checks.ts'
import { type Check, verify } from '#src/db/verify.ts'

/** What these checks of `ferry verify` find: one line for each row that breaks a promise. All but limits, unless told otherwise. */
export async function brokenPromises(
  pool: Pool,
  checks: readonly Check[] = allChecks([]),
): Promise<string[]> {
  const broken: string[] = []
  for (const check of checks) await verify(pool, check, found => void broken.push(`${check.name}: ${found}`))
  return broken
}
