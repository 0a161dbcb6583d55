/**
 * An alert rule as the contract declares it (AlertRuleBasic), ids and integers exact.
 *
 * Fields keep the contract's names from the network to the column. A missing optional field is null. `created_at` and
 * `updated_at` are integers whose unit the contract does not state: they are stored as given.
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
  /** Whether the rule fires. It is not part of the fingerprint; `alert_rule_firings` has it. */
  readonly triggered: boolean
}
