import type { Pool } from 'pg'
import type { Appearance } from '#src/inventory/states.ts'

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

/** A version of a rule; what it leaves out is as in most rules. */
export type RuleVersion = NamedSpan & {
  readonly folder?: number
  readonly labels?: Readonly<Record<string, string>> | null
  readonly enabled?: boolean
  readonly debug?: boolean
  readonly cron?: string
  readonly timezone?: string | null
  readonly delay?: number | string
  readonly flags?: readonly string[] | null
  /** The name of who updated it last; their id is its length. */
  readonly by?: string
  readonly appeared?: Appearance | null
}

export async function insertRuleVersion(pool: Pool, version: RuleVersion): Promise<void> {
  const { folder = 1, labels = {}, enabled = true, debug = false, cron = '* * * * *', by = 'Ada' } = version
  const { timezone = null, flags = null, delay = 0 } = version
  const fields = [folder, labels && JSON.stringify(labels), enabled, debug, cron, timezone, flags, by]
  await pool.query(
    `insert into ferry.alert_rule_versions (account, id, valid_from, valid_to, opened_by_run, closed_by_run, name,
       fingerprint, account_id, folder_id, labels, ds_type, enabled, debug_log_enabled, cron_pattern, timezone, flags,
       delay_seconds, creator_id, creator_name, updater_id, updater_name, created_at, updated_at, appeared)
     values ($1, $2, $3, $4, $5, $6, $7, md5($16)::uuid, 1, $8, $9, 'prometheus', $10, $11, $12, $13, $14,
       $18, 1, 'Grace', length($15), $15, 0, 0, $17)`,
    [
      ...timesOf(version, '1'),
      version.name,
      ...fields,
      JSON.stringify([version.name, ...fields]),
      version.appeared ?? null,
      delay,
    ],
  )
}

export type Tool = { readonly name: string; readonly description?: string }

/** A version of a server; what it leaves out is null, but for its tools and its account. */
export type ServerVersion = NamedSpan & {
  readonly tools?: readonly Tool[] | null
  readonly toolCount?: number
  readonly team?: number
  readonly description?: string
  readonly url?: string
  readonly status?: string
  readonly auth?: string
  readonly appeared?: Appearance | null
}

export async function insertServerVersion(
  pool: Pool,
  {
    tools = [{ name: 't' }],
    toolCount,
    team,
    description,
    url,
    status,
    auth,
    appeared,
    ...version
  }: ServerVersion,
): Promise<void> {
  await pool.query(
    `insert into ferry.mcp_server_versions (account, server_id, valid_from, valid_to, opened_by_run, closed_by_run,
       server_name, tools, team_id, description, url, status, auth_mode, fingerprint, account_id, created_at, appeared,
       tool_count)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, md5($7)::uuid, 1, 0, $14, $15)`,
    [
      ...timesOf(version, 's'),
      version.name,
      tools && JSON.stringify(tools),
      team,
      description,
      url,
      status,
      auth,
      appeared ?? null,
      toolCount,
    ],
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
