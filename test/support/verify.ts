import type { Pool } from 'pg'
import { allChecks } from '#src/cli/verify/checks.ts'
import { type Check, verify } from '#src/db/verify.ts'
import type { CheckedLimit } from '#src/db/verify-calls.ts'

/** What these checks of `ferry verify` find: one line for each row that breaks a promise. All but limits, unless told otherwise. */
export async function brokenPromises(
  pool: Pool,
  checks: readonly Check[] = allChecks([]),
): Promise<string[]> {
  const broken: string[] = []
  for (const check of await checksThatFind(pool, checks)) {
    await verify(pool, check, found => void broken.push(`${check.name}: ${found}`))
  }
  return broken
}

/** What the checks with these names find, in order, with these limits in the settings. */
export async function brokenOf(
  pool: Pool,
  names: readonly string[],
  limits: readonly CheckedLimit[] = [],
): Promise<string[]> {
  const checks = allChecks(limits).filter(({ name }) => names.includes(name))
  return (await brokenPromises(pool, checks)).sort()
}

/** The checks that find a row, asked in one statement: almost always there are none. */
async function checksThatFind(pool: Pool, checks: readonly Check[]): Promise<readonly Check[]> {
  const values: unknown[] = []
  const finds = checks.map(check => {
    const before = values.length
    values.push(...check.values)
    return `exists (${check.sql.replace(/\$(\d+)/g, (_, nth) => `$${before + Number(nth)}`)})`
  })
  const { rows } = await pool.query<{ found: boolean[] }>(
    `select array[${finds.join(', ')}] as found`,
    values,
  )
  return checks.filter((_, index) => rows[0]?.found[index])
}
