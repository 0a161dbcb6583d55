import type { Pool } from 'pg'

/* Versions and firings at chosen times, for tests of what is read from them. */

export type Span = {
  readonly account?: string
  readonly id?: string | bigint
  readonly from: string | Date
  /** Absent for the current one. */
  readonly to?: string | Date | undefined
  readonly openedBy?: bigint | number
  readonly closedBy?: bigint | number
}

export type NamedSpan = Span & { readonly name: string }

export async function insertRuleVersion(pool: Pool, version: NamedSpan): Promise<void> {
  await pool.query(
    `insert into ferry.alert_rule_versions (account, id, valid_from, valid_to, opened_by_run, closed_by_run, name,
       fingerprint, account_id, folder_id, labels, ds_type, enabled, debug_log_enabled, cron_pattern,
       delay_seconds, creator_id, creator_name, updater_id, updater_name, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, $7, md5($7)::uuid, 1, 1, '{}', 'prometheus', true, false, '* * * * *',
       0, 1, 'Grace', 1, 'Ada', 0, 0)`,
    [...timesOf(version, '1'), version.name],
  )
}

export type Tool = { readonly name: string; readonly description?: string }

export async function insertServerVersion(
  pool: Pool,
  { tools = [{ name: 't' }], ...version }: NamedSpan & { readonly tools?: readonly Tool[] },
): Promise<void> {
  await pool.query(
    `insert into ferry.mcp_server_versions (account, server_id, valid_from, valid_to, opened_by_run, closed_by_run,
       server_name, tools, fingerprint, account_id, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, md5($7)::uuid, 1, 0)`,
    [...timesOf(version, 's'), version.name, JSON.stringify(tools)],
  )
}

export async function insertFiring(pool: Pool, firing: Span): Promise<void> {
  await pool.query(
    `insert into ferry.alert_rule_firings (account, id, began, ended, began_run, ended_run)
     values ($1, $2, $3, $4, $5, $6)`,
    timesOf(firing, '1'),
  )
}

function timesOf({ account = 'a', id, from, to, openedBy = 1, closedBy = 2 }: Span, defaultId: string) {
  return [account, `${id ?? defaultId}`, from, to ?? null, openedBy, to === undefined ? null : closedBy]
}

/** Every version of a rule so far began so much earlier (an interval of Postgres). */
export async function ageRuleVersions(pool: Pool, by: string): Promise<void> {
  await pool.query('update ferry.alert_rule_versions set valid_from = valid_from - $1::interval', [by])
}

/** Every firing so far began so much earlier. */
export async function ageFirings(pool: Pool, by: string): Promise<void> {
  await pool.query('update ferry.alert_rule_firings set began = began - $1::interval', [by])
}

/** No current version of a rule is as it was listed: a run that compares it finds it changed. */
export async function spoilFingerprints(pool: Pool): Promise<void> {
  await pool.query(
    'update ferry.alert_rule_versions set fingerprint = gen_random_uuid() where valid_to is null',
  )
}
