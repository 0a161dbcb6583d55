import { z } from 'zod'
import { type Check, check } from '#src/db/verify.ts'
import { counted } from '#src/model/counted.ts'

/*
 * What the rows of imports promise: every row read is in exactly one place, and the counts are those of the rows.
 */

const ImportRow = z.object({ id: z.string() })

const CORRECT =
  'Pause the import (`ferry imports pause ID`) before it sends more. Compare its rows with a backup, and the file with the ' +
  'platform; nothing of it may be sent again before it is known who was.'

/** Checks of the rows of imports. */
export const ROW_CHECKS: readonly Check[] = [
  check(ImportRow.extend({ read: z.number(), accounted: z.number(), pending: z.number() }), {
    name: 'import sums',
    holds: 'rows read = sent + rejected + duplicate + suppressed + already imported + uncertain + pending',
    broken: `
      select i.id::text, i.read, i.accounted, i.recipients - i.sent - i.uncertain as pending from (
        select *, recipients + rejected + duplicate + suppressed + already_imported as accounted from ferry.imports
      ) i
      where i.staged_at is not null and (i.read <> i.accounted or i.recipients < i.sent + i.uncertain
        or i.recipients < i.batched or i.rejected < i.rejected_by_platform)`,
    found: ({ id, read, accounted, pending }) =>
      `ferry.imports: import ${id} has read ${counted(read, 'row')} and accounts for ${accounted}, ${pending} of them pending`,
    whatToDo: CORRECT,
  }),
  check(ImportRow.extend({ what: z.string(), kept: z.number(), counted: z.number() }), {
    name: 'import counts',
    holds: 'the counts kept with an import are those of its rows, batches and calls',
    broken: `
      with recipients as (
        select import_id, count(*)::int as n from ferry.import_recipients group by import_id
      ), rejects as (
        select import_id, count(*)::int as n, (count(*) filter (where origin = 'platform'))::int as by_platform
        from ferry.import_rejects group by import_id
      ), left_out as (
        select import_id, (count(*) filter (where kind = 'duplicate'))::int as duplicate,
          (count(*) filter (where kind = 'suppressed'))::int as suppressed,
          (count(*) filter (where kind = 'already imported'))::int as already_imported
        from ferry.import_left_out group by import_id
      ), batches as (
        select import_id, count(*)::int as n, sum(rows)::int as batched,
          coalesce(sum(rows) filter (where state = 'sent'), 0)::int as sent,
          coalesce(sum(rows) filter (where ferry_internal.is_uncertain_batch(state, uncertain)), 0)::int as uncertain
        from ferry.import_batches where state <> 'split' group by import_id
      ), calls as (
        select b.import_id, count(*)::int as n
        from ferry.platform_calls c join ferry.import_batches b on b.id = c.batch_id group by b.import_id
      ), locales as (
        select import_id, sum(sent)::int as sent from ferry.import_locales group by import_id
      )
      select i.id::text, w.what, coalesce(w.kept, 0) as kept, coalesce(w.counted, 0) as counted
      from ferry.imports i
      left join recipients r on r.import_id = i.id
      left join rejects j on j.import_id = i.id
      left join left_out l on l.import_id = i.id
      left join batches b on b.import_id = i.id
      left join calls c on c.import_id = i.id
      left join locales o on o.import_id = i.id
      cross join lateral (values
        ('recipients', i.recipients, r.n), ('rejected', i.rejected, j.n),
        ('rejected_by_platform', i.rejected_by_platform, j.by_platform), ('duplicate', i.duplicate, l.duplicate),
        ('suppressed', i.suppressed, l.suppressed), ('already_imported', i.already_imported, l.already_imported),
        ('batches', i.batches, b.n), ('batched', i.batched, b.batched), ('sent', i.sent, b.sent),
        ('uncertain', i.uncertain, b.uncertain), ('requests', i.requests, c.n),
        ('sent, in ferry.import_locales', o.sent, b.sent)
      ) w (what, kept, counted)
      where i.staged_at is not null and coalesce(w.kept, 0) <> coalesce(w.counted, 0)`,
    found: ({ id, what, kept, counted }) =>
      `ferry.imports: import ${id} keeps ${what} = ${kept}, but its rows are ${counted}`,
    whatToDo: `${CORRECT} If the rows are right, correct the count as the owner of the table.`,
  }),
  check(ImportRow.extend({ line: z.string(), tables: z.string() }), {
    name: 'import places',
    holds: 'a row of a file is in exactly one of import_recipients, import_rejects and import_left_out',
    broken: `
      select r.import_id::text as id, r.line::text, 'ferry.import_recipients and ferry.import_rejects' as tables
      from ferry.import_recipients r join ferry.import_rejects j using (import_id, line)
      union all
      select r.import_id::text, r.line::text, 'ferry.import_recipients and ferry.import_left_out'
      from ferry.import_recipients r join ferry.import_left_out l using (import_id, line)
      union all
      select j.import_id::text, j.line::text, 'ferry.import_rejects and ferry.import_left_out'
      from ferry.import_rejects j join ferry.import_left_out l using (import_id, line)`,
    found: ({ id, line, tables }) => `${tables}: line ${line} of import ${id} is in both`,
    whatToDo: CORRECT,
  }),
  check(ImportRow.extend({ table: z.string(), rows: z.number() }), {
    name: 'rows of no import',
    holds: 'every row of a file, every batch and every call of a batch belongs to one that exists',
    broken: `
      select o.import_id::text as id, o.table, count(*)::int as rows from (
        select import_id, 'ferry.import_recipients' as table from ferry.import_recipients
        union all select import_id, 'ferry.import_rejects' from ferry.import_rejects
        union all select import_id, 'ferry.import_left_out' from ferry.import_left_out
        union all select import_id, 'ferry.import_batches' from ferry.import_batches
      ) o
      where not exists (select from ferry.imports i where i.id = o.import_id)
      group by o.import_id, o.table
      union all
      select c.batch_id::text, 'ferry.platform_calls', count(*)::int from ferry.platform_calls c
      where c.batch_id is not null and not exists (select from ferry.import_batches b where b.id = c.batch_id)
      group by c.batch_id`,
    found: ({ id, table, rows }) =>
      `${table}: ${counted(rows, 'row belongs', 'rows belong')} to ${table === 'ferry.platform_calls' ? 'batch' : 'import'} ${id}, which does not exist`,
    whatToDo: 'Restore what is missing from a backup: these people may have been sent.',
  }),
]
