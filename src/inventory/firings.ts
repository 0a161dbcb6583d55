import type { Pool, PoolClient } from 'pg'
import { and, drizzleOf, eq, isNull } from '#src/db/drizzle.ts'
import type { RunStep } from './ledger.ts'
import { alertRuleFirings as firings } from './schema.ts'

/** The ids of the rules that were seen to begin firing and not to end. */
export async function loadOpenFirings(pool: Pool, account: string): Promise<ReadonlySet<string>> {
  const open = await drizzleOf(pool)
    .select({ id: firings.id })
    .from(firings)
    .where(and(eq(firings.account, account), isNull(firings.ended)))
  return new Set(open.map(firing => `${firing.id}`))
}

/** Begins and ends firings at the instant `at`. */
export async function applyFirings(
  client: PoolClient,
  run: RunStep,
  began: readonly string[],
  ended: readonly string[],
): Promise<void> {
  if (ended.length > 0) {
    await client.query(
      `update ferry.alert_rule_firings set ended = $3, ended_run = $2
       where account = $1 and ended is null and id = any ($4::numeric[])`,
      [run.account, run.runId, run.at, ended],
    )
  }
  if (began.length > 0) {
    await client.query(
      `insert into ferry.alert_rule_firings (account, id, began, began_run)
       select $1, id, $3, $2 from unnest($4::numeric[]) as id`,
      [run.account, run.runId, run.at, began],
    )
  }
}
