/** An alert rule as it travels, with what a test is about put in; undefined leaves a field out. */
export function alertRuleWire(fields: Record<string, unknown> = {}): Record<string, unknown> {
  const rule = {
    id: 1,
    account_id: 2,
    folder_id: 3,
    name: 'High load',
    labels: { team: 'sre' },
    ds_type: 'prometheus',
    enabled: true,
    debug_log_enabled: false,
    cron_pattern: '*/5 * * * *',
    timezone: 'Europe/Berlin',
    delay_seconds: 0,
    creator_id: 4,
    creator_name: 'Ada',
    updater_id: 4,
    updater_name: 'Grace',
    created_at: 1700000000,
    updated_at: 1700000001,
    triggered: false,
    ...fields,
  }
  return Object.fromEntries(Object.entries(rule).filter(([, value]) => value !== undefined))
}
