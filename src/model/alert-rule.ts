/** An exact integer: a number up to ±(2^53-1), a bigint beyond. */
export type Integer = number | bigint

/**
 * An alert rule as the contract declares it (AlertRuleBasic), ids and integers exact.
 *
 * Fields keep the contract's names from the network to the column. A missing optional field is null. `created_at` and
 * `updated_at` are integers whose unit the contract does not state: they are stored as given.
 */
export type AlertRule<Int extends Integer = Integer> = {
  readonly id: Int
  readonly account_id: Int
  readonly folder_id: Int
  readonly name: string
  readonly labels: Readonly<Record<string, string>> | null
  readonly ds_type: string
  readonly enabled: boolean
  readonly debug_log_enabled: boolean
  readonly cron_pattern: string
  readonly timezone: string | null
  readonly delay_seconds: Int
  readonly creator_id: Int
  readonly creator_name: string
  readonly updater_id: Int
  readonly updater_name: string
  readonly created_at: Int
  readonly updated_at: Int
  /** Whether the rule fires. It is not part of the fingerprint; `alert_rule_firings` has it. */
  readonly triggered: boolean
}
