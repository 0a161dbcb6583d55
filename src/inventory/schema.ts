import {
  boolean,
  check,
  index,
  integer,
  jsonb,
  primaryKey,
  sql,
  text,
  uniqueIndex,
  uuid,
} from '#src/db/drizzle.ts'
import { count, ferry, identity, instant, int64, isOneOf, keyText, uint64 } from '#src/db/schema.ts'
import { ALERT_RULE } from '#src/model/alert-rule.ts'
import { MCP_SERVER } from '#src/model/mcp-server.ts'
import { RESOURCES, type Resource } from '#src/model/resource.ts'
import { RUN_STATUSES, TRIGGERS } from '#src/model/run.ts'
import { fieldColumns } from './field-columns.ts'
import { APPEARANCES, HOLD_OUTCOMES, SNAPSHOT_STATUSES } from './states.ts'

/*
 * The tables of inventories: the ledger of runs, versions, firings, holds, findings and snapshots.
 */

export const syncRuns = ferry.table(
  'sync_runs',
  {
    id: identity(),
    account: keyText('account').notNull(),
    resource: keyText<Resource>('resource').notNull(),
    trigger: text('trigger', { enum: TRIGGERS }).notNull(),
    slot: instant('slot'),
    scope: jsonb('scope').notNull(),
    guard: text('guard').notNull(),
    fingerprint_version: integer('fingerprint_version').notNull(),
    status: text('status', { enum: RUN_STATUSES }).notNull(),
    started_at: instant('started_at').notNull().default(sql`clock_timestamp()`),
    applied_at: instant('applied_at'),
    finished_at: instant('finished_at'),
    requests: count('requests'),
    pages: count('pages'),
    seen: count('seen'),
    added: count('added'),
    changed: count('changed'),
    removed: count('removed'),
    unchanged: count('unchanged'),
    quarantined: count('quarantined'),
    fired: count('fired'),
    recovered: count('recovered'),
    // Of the added rows, those of a first reading.
    first_read: count('first_read'),
    data_hashes: text('data_hashes').array(),
    error_code: text('error_code'),
    request_id: text('request_id'),
    message: text('message'),
    lease_token: uuid('lease_token'),
  },
  t => [
    // Nulls first is the order of `order by id desc`: with Drizzle's own, these would give no order at all.
    index('sync_runs_by_resource').on(t.account, t.resource, t.id.desc().nullsFirst()),
    index('sync_runs_complete')
      .on(t.account, t.resource, sql`(${t.scope} -> 'folders')`, t.id.desc().nullsFirst())
      .where(sql`${t.status} in ('succeeded', 'held')`),
    index('sync_runs_failed')
      .on(t.account, t.resource, t.id.desc().nullsFirst())
      .where(sql`${t.status} in ('failed', 'partial')`),
    index('sync_runs_by_start').on(t.started_at),
    index('sync_runs_first_readings').on(t.applied_at).where(sql`${t.first_read} > 0`),
    index('sync_runs_by_applied').on(t.applied_at).where(sql`${t.applied_at} is not null`),
    index('sync_runs_unfinished').on(t.id).where(sql`${t.finished_at} is null`),
    check('sync_runs_resource', isOneOf(t.resource, RESOURCES)),
    check('sync_runs_trigger', isOneOf(t.trigger, TRIGGERS)),
    check('sync_runs_status', isOneOf(t.status, RUN_STATUSES)),
  ],
)

/** The characters that the words of a rule have at most. */
export const MAX_NAME_IN_WORDS = 200
export const MAX_LABELS_IN_WORDS = 250

/** The start of a name: cut as `varchar`, which looks at the characters of long texts alone, unlike `left`. */
export const RULE_NAME_TEXT = `name::varchar(${MAX_NAME_IN_WORDS})`
/** The same, and on a line of their own the labels as JSON. Bounded, so that it fits into an index. */
export const RULE_TEXT = `${RULE_NAME_TEXT} || chr(10) || coalesce(labels::text, '')::varchar(${MAX_LABELS_IN_WORDS})`

/** By this rules are found and ordered: the text in lower case, in the order of the names. */
export const RULE_WORDS = `lower(${RULE_TEXT})`

export const alertRuleVersions = ferry.table(
  'alert_rule_versions',
  {
    account: keyText('account').notNull(),
    id: uint64('id').notNull(),
    valid_from: instant('valid_from').notNull(),
    valid_to: instant('valid_to'),
    opened_by_run: int64('opened_by_run').notNull(),
    closed_by_run: int64('closed_by_run'),
    fingerprint: uuid('fingerprint').notNull(),
    ...fieldColumns(ALERT_RULE),
    flags: text('flags').array(),
    altered: text('altered').array(),
    appeared: text('appeared', { enum: APPEARANCES }),
    // Bounded, so that it fits into an index whatever the platform sends.
    team: text('team').generatedAlwaysAs(
      sql.raw(
        "left(coalesce(nullif(labels ->> 'team', ''), jsonb_path_query_first(labels, " +
          `'$.keyvalue() ? (@.key like_regex "^(team|owner|squad)$" flag "i" && @.value != "").value', '{}', true) #>> '{}'), 100)`,
      ),
    ),
    // By this the list of rules is searched and ordered. Only current versions have it: history need not grow by it.
    words: text('words').generatedAlwaysAs(sql.raw(`case when valid_to is null then ${RULE_WORDS} end`)),
  },
  t => [
    primaryKey({ columns: [t.id, t.account, t.valid_from] }),
    // Indexes with INCLUDE, which Drizzle cannot say, stand in drizzle/tables/inventory.sql.
    // What began lately, however long the history is.
    index('alert_rule_versions_by_start').on(t.valid_from),
    index('alert_rule_versions_flagged')
      .on(t.id, t.account)
      .where(sql`${t.valid_to} is null and ${t.flags} is not null`),
    index('alert_rule_versions_default_timezone')
      .on(t.id, t.account)
      .where(sql`${t.valid_to} is null and coalesce(${t.timezone}, '') = ''`),
    check('alert_rule_versions_appeared', isOneOf(t.appeared, APPEARANCES)),
    check('alert_rule_versions_interval', sql`${t.valid_to} > ${t.valid_from}`),
  ],
)

export const mcpServerVersions = ferry.table(
  'mcp_server_versions',
  {
    account: keyText('account').notNull(),
    server_id: keyText('server_id').notNull(),
    valid_from: instant('valid_from').notNull(),
    valid_to: instant('valid_to'),
    opened_by_run: int64('opened_by_run').notNull(),
    closed_by_run: int64('closed_by_run'),
    fingerprint: uuid('fingerprint').notNull(),
    ...fieldColumns(MCP_SERVER),
    flags: text('flags').array(),
    altered: text('altered').array(),
    appeared: text('appeared', { enum: APPEARANCES }),
  },
  t => [
    primaryKey({ columns: [t.server_id, t.account, t.valid_from] }),
    index('mcp_server_versions_by_start').on(t.valid_from),
    index('mcp_server_versions_by_end').on(t.valid_to).where(sql`${t.valid_to} is not null`),
    check('mcp_server_versions_appeared', isOneOf(t.appeared, APPEARANCES)),
    check('mcp_server_versions_interval', sql`${t.valid_to} > ${t.valid_from}`),
  ],
)

export const alertRuleFirings = ferry.table(
  'alert_rule_firings',
  {
    account: keyText('account').notNull(),
    id: uint64('id').notNull(),
    began: instant('began').notNull(),
    ended: instant('ended'),
    began_run: int64('began_run').notNull(),
    ended_run: int64('ended_run'),
  },
  t => [
    primaryKey({ columns: [t.id, t.account, t.began] }),
    uniqueIndex('alert_rule_firings_open').on(t.id, t.account).where(sql`${t.ended} is null`),
    // What began around a moment, however long ago.
    index('alert_rule_firings_by_start').on(t.began),
    index('alert_rule_firings_by_end').on(t.ended, t.began).where(sql`${t.ended} is not null`),
    check('alert_rule_firings_interval', sql`${t.ended} > ${t.began}`),
  ],
)

export const removalHolds = ferry.table(
  'removal_holds',
  {
    id: identity(),
    account: keyText('account').notNull(),
    resource: keyText<Resource>('resource').notNull(),
    opened_by_run: int64('opened_by_run').notNull(),
    last_run: int64('last_run').notNull(),
    ids: text('ids').array().notNull(),
    // For each of the ids, in their order. Of another length if an older Ferry wrote the ids: then it says nothing.
    since_runs: int64('since_runs').array().notNull(),
    partly_approved: boolean('partly_approved').notNull().default(false),
    opened_at: instant('opened_at').notNull().default(sql`clock_timestamp()`),
    ended_at: instant('ended_at'),
    outcome: text('outcome', { enum: HOLD_OUTCOMES }),
    rejected_by: text('rejected_by'),
    rejected_ids: text('rejected_ids').array(),
  },
  t => [
    uniqueIndex('removal_holds_open').on(t.account, t.resource).where(sql`${t.ended_at} is null`),
    check('removal_holds_resource', isOneOf(t.resource, RESOURCES)),
    check('removal_holds_outcome', isOneOf(t.outcome, HOLD_OUTCOMES)),
  ],
)

export const quarantinedRows = ferry.table(
  'quarantined_rows',
  {
    run_id: int64('run_id').notNull(),
    position: integer('position').notNull(),
    id: text('id'),
    reason: text('reason').notNull(),
    raw: jsonb('raw'),
    fingerprint: uuid('fingerprint').notNull(),
    until_run: int64('until_run'),
  },
  t => [primaryKey({ columns: [t.run_id, t.position] }), index('quarantined_rows_until').on(t.until_run)],
)

export const contractDrift = ferry.table(
  'contract_drift',
  {
    account: keyText('account').notNull(),
    resource: keyText<Resource>('resource').notNull(),
    field: keyText('field').notNull(),
    type: keyText('type').notNull(),
    first_run: int64('first_run').notNull(),
    first_seen_at: instant('first_seen_at').notNull().default(sql`clock_timestamp()`),
  },
  t => [
    primaryKey({ columns: [t.account, t.resource, t.field, t.type] }),
    check('contract_drift_resource', isOneOf(t.resource, RESOURCES)),
  ],
)

export const seenValues = ferry.table(
  'seen_values',
  {
    account: keyText('account').notNull(),
    resource: keyText<Resource>('resource').notNull(),
    field: keyText('field').notNull(),
    value: keyText('value').notNull(),
    first_run: int64('first_run').notNull(),
    is_news: boolean('is_news').notNull(),
    first_seen_at: instant('first_seen_at').notNull().default(sql`clock_timestamp()`),
  },
  t => [
    primaryKey({ columns: [t.account, t.resource, t.field, t.value] }),
    check('seen_values_resource', isOneOf(t.resource, RESOURCES)),
  ],
)

export const platformAccounts = ferry.table(
  'platform_accounts',
  {
    account: keyText('account').notNull(),
    account_id: uint64('account_id').notNull(),
    first_run: int64('first_run').notNull(),
  },
  t => [primaryKey({ columns: [t.account, t.account_id] })],
)

export const snapshots = ferry.table(
  'snapshots',
  {
    id: identity(),
    account: keyText('account').notNull(),
    slot: instant('slot'),
    taken_at: instant('taken_at').notNull(),
    status: text('status', { enum: SNAPSHOT_STATUSES }).notNull(),
    alert_rules_run: int64('alert_rules_run').notNull(),
    mcp_servers_run: int64('mcp_servers_run').notNull(),
  },
  t => [
    uniqueIndex('snapshots_one_per_slot').on(t.account, t.slot),
    index('snapshots_by_time').on(t.account, t.taken_at),
    check('snapshots_status', isOneOf(t.status, SNAPSHOT_STATUSES)),
  ],
)

export const history = ferry.table(
  'history',
  {
    only: boolean('only').primaryKey().default(true),
    starts_at: instant('starts_at').notNull(),
    runs_start_at: instant('runs_start_at'),
  },
  t => [check('history_has_one_row', sql`${t.only}`)],
)
