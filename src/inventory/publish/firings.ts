import type { PoolClient } from 'pg'
import type { RunStep } from '#src/inventory/runs/ledger.ts'

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
