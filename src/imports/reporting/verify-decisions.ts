import { z } from 'zod'
import { type Check, check } from '#src/db/verify.ts'
import { wordsInSql } from '#src/db/words-in-sql.ts'
import { RESOLVED_AS_SENT } from '#src/imports/states.ts'
import { counted } from '#src/model/counted.ts'
import { ENDED_STATUSES, IMPORT_STATUSES } from '#src/model/import.ts'

/*
 * What the statuses of imports promise: the columns that belong to them, the person who decided, and who is told.
 */

const ENDED = wordsInSql(ENDED_STATUSES)

const ImportRow = z.object({ id: z.string(), status: z.enum(IMPORT_STATUSES) })

/** Checks of the statuses of imports, and of the decisions about them. */
export const DECISION_CHECKS: readonly Check[] = [
  check(ImportRow.extend({ left: z.number() }), {
    name: 'import statuses',
    holds:
      'an import that has ended has an end, a completed one has sent its rows, a waiting one waits for something',
    broken: `
      select i.id::text, i.status, i.recipients - i.sent as left from ferry.imports i
      where (i.finished_at is not null) <> (i.status in (${ENDED}))
        or (i.rests_since is not null) <> (i.status in ('paused', 'undecided'))
        or (i.confirmed_at is null) <> (i.status = 'staging') and i.status <> 'cancelled'
        or (i.purged_at is not null and i.finished_at is null)
        or (i.status = 'completed' and i.recipients <> i.sent) or (i.status = 'undecided' and i.uncertain = 0)`,
    found: ({ id, status, left }) =>
      `ferry.imports: import ${id} is ${status} with ${counted(left, 'row')} not sent, or its times are not those of this status`,
    whatToDo: '`ferry imports show ID` shows what Ferry knows of it; compare the row with a backup.',
  }),
  check(z.object({ id: z.string(), action: z.string(), isLost: z.boolean() }), {
    name: 'decisions on imports',
    holds: 'who decided about an import is in the audit, and what the audit names exists',
    broken: `
      select d.id::text, d.action, false as is_lost from (
        select id, 'confirm' as action from ferry.imports where confirmed_at is not null
        union all select id, 'cancel' from ferry.imports where status = 'cancelled'
        union all select id, 'pause' from ferry.imports where status = 'paused' and pause_code is null
        union all select distinct import_id, 'resolve' from ferry.import_batches where state <> 'split' and message = $1
      ) d
      where not exists (select from ferry.audit a
        where a.subject_kind = 'import' and a.subject_id = d.id::text and a.action = d.action)
      union all
      select distinct a.subject_id, a.action, true from ferry.audit a
      where a.subject_kind = 'import' and not exists (select from ferry.imports i where i.id::text = a.subject_id)`,
    values: [RESOLVED_AS_SENT],
    found: ({ id, action, isLost }) =>
      isLost
        ? `ferry.audit: a person did ${action} import ${id}, which does not exist`
        : `ferry.audit: nobody is recorded who did ${action} import ${id}`,
    whatToDo: 'A row is missing: compare ferry.audit and ferry.imports with a backup.',
  }),
  check(z.object({ id: z.string(), kind: z.string(), isTrue: z.boolean() }), {
    name: 'events of imports',
    holds: 'people are told of each import that waits for a person, and of no other',
    broken: `
      select coalesce(i.id, e.subject) as id, coalesce(i.kind, e.kind) as kind, i.id is not null as is_true
      from (
        select id::text, account, 'import.' || status as kind from ferry.imports where status in ('paused', 'undecided')
      ) i
      full join (
        select subject, account, kind from ferry.events where is_open and kind in ('import.paused', 'import.undecided')
      ) e on e.subject = i.id and e.account = i.account and e.kind = i.kind
      where i.id is null or e.subject is null`,
    found: ({ id, kind, isTrue }) =>
      isTrue
        ? `ferry.events: nobody is told of ${kind} of import ${id}`
        : `ferry.events: ${kind} is open for import ${id}, but it is not so`,
    whatToDo:
      '`ferry imports show ID` says what is so. As the owner of the table, set is_open = false in a row too many.',
  }),
]
