import { check, integer, interval, jsonb, primaryKey, sql, text } from '#src/db/drizzle.ts'
import { ferry, instant, isOneOf, keyText } from '#src/db/schema.ts'
import { RESOURCES, type Resource } from '#src/model/resource.ts'

/** How old the data of each inventory may be. Workers write it when they start: it follows from their settings. */
export const freshnessTargets = ferry.table(
  'freshness_targets',
  {
    account: keyText('account').notNull(),
    resource: keyText<Resource>('resource').notNull(),
    target: interval('target').notNull(),
    /** What the target was before, and since when it is as it is. */
    target_before: interval('target_before'),
    target_changed_at: instant('target_changed_at').notNull().default(sql`'-infinity'`),
    schedule: text('schedule').notNull(),
    /** After this time without a snapshot a night is missed. */
    night: interval('night').notNull().default('25 hours'),
    timezone: text('timezone').notNull(),
    nightly_cron: text('nightly_cron'),
    /** The first night that is due by this expression in this time zone. */
    night_since: instant('night_since').notNull().default(sql`'-infinity'`),
    /** The days of the week (1 is Monday) of the nightly schedule, if that is due by them alone. */
    weekdays: integer('weekdays').array(),
    folders: jsonb('folders').notNull(),
    /** Where the key of the account is set: a setting, a variable or a file. */
    key_setting: text('key_setting'),
    runs_kept: interval('runs_kept').notNull().default('90 days'),
    /** Since when it is targeted to read these folders of the account. */
    target_since: instant('target_since').notNull().default(sql`clock_timestamp()`),
    written_at: instant('written_at').notNull().default(sql`clock_timestamp()`),
  },
  t => [
    primaryKey({ columns: [t.account, t.resource] }),
    check('freshness_targets_resource', isOneOf(t.resource, RESOURCES)),
  ],
)
