-- Only fields that differ become jsonb: whole versions as jsonb would take three times as long.
CREATE OR REPLACE FUNCTION ferry_internal.alert_rule_differences(old ferry.alert_rule_versions, new ferry.alert_rule_versions)
RETURNS TABLE (before jsonb, after jsonb) LANGUAGE sql STABLE AS $$
  SELECT
    jsonb_object_agg(f.field, CASE f.field
      WHEN 'account_id' THEN to_jsonb($1.account_id) WHEN 'folder_id' THEN to_jsonb($1.folder_id)
      WHEN 'name' THEN to_jsonb($1.name) WHEN 'labels' THEN to_jsonb($1.labels)
      WHEN 'ds_type' THEN to_jsonb($1.ds_type) WHEN 'enabled' THEN to_jsonb($1.enabled)
      WHEN 'debug_log_enabled' THEN to_jsonb($1.debug_log_enabled) WHEN 'cron_pattern' THEN to_jsonb($1.cron_pattern)
      WHEN 'timezone' THEN to_jsonb($1.timezone) WHEN 'delay_seconds' THEN to_jsonb($1.delay_seconds)
      WHEN 'creator_id' THEN to_jsonb($1.creator_id) WHEN 'creator_name' THEN to_jsonb($1.creator_name)
      WHEN 'updater_id' THEN to_jsonb($1.updater_id) WHEN 'updater_name' THEN to_jsonb($1.updater_name)
      WHEN 'created_at' THEN to_jsonb($1.created_at) WHEN 'updated_at' THEN to_jsonb($1.updated_at)
    END),
    jsonb_object_agg(f.field, CASE f.field
      WHEN 'account_id' THEN to_jsonb($2.account_id) WHEN 'folder_id' THEN to_jsonb($2.folder_id)
      WHEN 'name' THEN to_jsonb($2.name) WHEN 'labels' THEN to_jsonb($2.labels)
      WHEN 'ds_type' THEN to_jsonb($2.ds_type) WHEN 'enabled' THEN to_jsonb($2.enabled)
      WHEN 'debug_log_enabled' THEN to_jsonb($2.debug_log_enabled) WHEN 'cron_pattern' THEN to_jsonb($2.cron_pattern)
      WHEN 'timezone' THEN to_jsonb($2.timezone) WHEN 'delay_seconds' THEN to_jsonb($2.delay_seconds)
      WHEN 'creator_id' THEN to_jsonb($2.creator_id) WHEN 'creator_name' THEN to_jsonb($2.creator_name)
      WHEN 'updater_id' THEN to_jsonb($2.updater_id) WHEN 'updater_name' THEN to_jsonb($2.updater_name)
      WHEN 'created_at' THEN to_jsonb($2.created_at) WHEN 'updated_at' THEN to_jsonb($2.updated_at)
    END)
  FROM unnest(ARRAY[
    CASE WHEN $1.account_id IS DISTINCT FROM $2.account_id THEN 'account_id' END, CASE WHEN $1.folder_id IS DISTINCT FROM $2.folder_id THEN 'folder_id' END,
    CASE WHEN $1.name IS DISTINCT FROM $2.name THEN 'name' END, CASE WHEN $1.labels IS DISTINCT FROM $2.labels THEN 'labels' END,
    CASE WHEN $1.ds_type IS DISTINCT FROM $2.ds_type THEN 'ds_type' END, CASE WHEN $1.enabled IS DISTINCT FROM $2.enabled THEN 'enabled' END,
    CASE WHEN $1.debug_log_enabled IS DISTINCT FROM $2.debug_log_enabled THEN 'debug_log_enabled' END, CASE WHEN $1.cron_pattern IS DISTINCT FROM $2.cron_pattern THEN 'cron_pattern' END,
    CASE WHEN $1.timezone IS DISTINCT FROM $2.timezone THEN 'timezone' END, CASE WHEN $1.delay_seconds IS DISTINCT FROM $2.delay_seconds THEN 'delay_seconds' END,
    CASE WHEN $1.creator_id IS DISTINCT FROM $2.creator_id THEN 'creator_id' END, CASE WHEN $1.creator_name IS DISTINCT FROM $2.creator_name THEN 'creator_name' END,
    CASE WHEN $1.updater_id IS DISTINCT FROM $2.updater_id THEN 'updater_id' END, CASE WHEN $1.updater_name IS DISTINCT FROM $2.updater_name THEN 'updater_name' END,
    CASE WHEN $1.created_at IS DISTINCT FROM $2.created_at THEN 'created_at' END, CASE WHEN $1.updated_at IS DISTINCT FROM $2.updated_at THEN 'updated_at' END
  ]) AS f (field)
  WHERE f.field IS NOT NULL AND $1.fingerprint IS NOT NULL AND $2.fingerprint IS NOT NULL
$$;

COMMENT ON FUNCTION ferry_internal.alert_rule_differences IS 'The fields in which two versions of an alert rule differ, as they were and as they became; null if a version is missing or nothing differs. For views and reports.';
