import { type Declaration, type Integer, open, optional, type RowOf, required } from './fields.ts'

/**
 * Alert rules as the contract declares them (AlertRuleBasic). `created_at` and `updated_at` are integers whose unit the
 * contract does not state: they are stored as given.
 */
export const ALERT_RULE = {
  fingerprintVersion: 1,
  id: 'id',
  name: 'name',
  folder: 'folder_id',
  fields: {
    id: required('uint64', "The rule's id on the platform (uint64)."),
    account_id: required('uint64', "The platform's id of the owning account (uint64)."),
    folder_id: required('uint64', 'The folder that contains the rule (uint64).', 'Folder'),
    name: required('text', "The rule's name."),
    labels: optional('labels', "The rule's labels, a flat object of texts; null if the platform sent none."),
    ds_type: open(required('text', 'Data source type, for example prometheus.', 'Data source')),
    enabled: required('flag', 'Whether the rule is switched on.'),
    debug_log_enabled: required('flag', 'Whether the rule writes a debug log.'),
    cron_pattern: required('text', 'When the rule is evaluated, as the platform wrote it.', 'Schedule'),
    timezone: optional(
      'text',
      'The IANA time zone in which cron_pattern is read; null if the platform sent none. The platform reads an empty one as Asia/Shanghai.',
    ),
    delay_seconds: required('int64', 'Evaluation delay in seconds.', 'Delay, as given'),
    creator_id: required('uint64', 'Id of the person who created the rule (uint64).'),
    creator_name: required('text', 'Name of the person who created the rule.', 'Created by'),
    updater_id: {
      ...required('uint64', 'Id of the person who changed the rule last (uint64).'),
      isAboutEdit: true,
    },
    updater_name: {
      ...required('text', 'Name of the person who changed the rule last.', 'Last edited by'),
      isAboutEdit: true,
    },
    created_at: required(
      'int64',
      'When the rule was created, as the platform gave it. Its unit is not documented.',
    ),
    updated_at: {
      ...required(
        'int64',
        'When the rule was last changed, as the platform gave it. Its unit is not documented.',
      ),
      isAboutEdit: true,
    },
    triggered: {
      ...required('flag', 'Whether the rule had an active alert when it was last read.'),
      isState: true,
    },
  },
} as const satisfies Declaration

/** An alert rule, ids and integers exact. */
export type AlertRule<Int extends Integer = Integer> = RowOf<typeof ALERT_RULE.fields, Int>
