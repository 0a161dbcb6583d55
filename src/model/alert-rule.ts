/**
 * An alert rule as the contract declares it (AlertRuleBasic), ids and integers exact.
 *
 * Fields keep the contract's own names from the wire to the column, so that one word means one thing
 * everywhere. A missing optional field is null. `created_at` and `updated_at` are integers whose unit the
 * contract does not show: they are carried as given.
 */
export type AlertRule = {
  readonly id: bigint
  readonly account_id: bigint
  readonly folder_id: bigint
  readonly name: string
  readonly labels: Readonly<Record<string, string>> | null
  readonly ds_type: string
  readonly enabled: boolean
  readonly debug_log_enabled: boolean
  readonly cron_pattern: string
  readonly timezone: string | null
  readonly delay_seconds: bigint
  readonly creator_id: bigint
  readonly creator_name: string
  readonly updater_id: bigint
  readonly updater_name: string
  readonly created_at: bigint
  readonly updated_at: bigint
  /** Firing is state, not definition: it is no part of the fingerprint and lives in `alert_rule_firings`. */
  readonly triggered: boolean
}
