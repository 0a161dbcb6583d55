import type { Pool, PoolClient } from 'pg'

/** The ids of the rules whose firing was observed to begin and not to end. */
export async function loadOpenFirings(pool: Pool, account: string): Promise<ReadonlySet<string>> {
  const { rows } = await pool.query<{ id: string }>(
    'select id::text as id from ferry.alert_rule_firings where account = $1 and ended is null',
    [account],
  )
  return new Set(rows.map(row => row.id))
}

/** Begins and ends episodes at the instant `at`. */
export async function applyFirings(
  client: PoolClient,
  run: { account: string; runId: bigint; at: string },
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
