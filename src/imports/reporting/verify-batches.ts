import { z } from 'zod'
import { type Check, check } from '#src/db/verify.ts'
import { RESOLVED_AS_SENT } from '#src/imports/states.ts'
import { counted } from '#src/model/counted.ts'

/*
 * What the batches of imports promise: they follow one another without gaps and overlaps, hold the rows that they count, and
 * none was sent without a call.
 */

const BatchRow = z.object({ id: z.string(), import: z.string() })
type BatchRow = z.infer<typeof BatchRow>

const batch = ({ id, import: ofImport }: BatchRow) =>
  `ferry.import_batches: batch ${id} of import ${ofImport}`

const SENT_TWICE =
  'Pause the import (`ferry imports pause ID`): rows of two batches would be sent twice, and rows of none not at all. Compare ' +
  'its batches with a backup.'

/** Checks of batches. One that was split is no place any more: smaller ones took it. */
export const BATCH_CHECKS: readonly Check[] = [
  check(BatchRow.extend({ fromLine: z.string(), toLine: z.string(), isOverlapping: z.boolean() }), {
    name: 'batch ranges',
    holds: 'the batches of an import do not overlap, and end with the last line that is in a batch',
    broken: `
      select b.id::text, b.import_id::text as import, b.from_line::text, b.to_line::text, b.from_line <= b.before as is_overlapping
      from (
        select id, import_id, from_line, to_line, coalesce(max(to_line) over (
          partition by import_id order by from_line, id rows between unbounded preceding and 1 preceding), 0) as before
        from ferry.import_batches where state <> 'split'
      ) b
      join ferry.imports i on i.id = b.import_id
      where b.from_line <= b.before or b.to_line < b.from_line or b.to_line > i.batched_to`,
    found: row =>
      `${batch(row)} has lines ${row.fromLine} to ${row.toLine}, ${row.isOverlapping ? 'some of which are in another batch' : 'beyond the last line that is in a batch'}`,
    whatToDo: SENT_TWICE,
  }),
  check(z.object({ import: z.string(), line: z.string() }), {
    name: 'batch gaps',
    holds: 'every recipient up to the last line that is in a batch is in one',
    broken: `
      select g.import_id::text as import, r.line::text
      from (
        select import_id, from_line, coalesce(max(to_line) over (
          partition by import_id order by from_line, id rows between unbounded preceding and 1 preceding), 0) as before
        from ferry.import_batches where state <> 'split'
        union all
        select i.id, i.batched_to + 1, (
          select coalesce(max(b.to_line), 0) from ferry.import_batches b where b.import_id = i.id and b.state <> 'split')
        from ferry.imports i
      ) g
      cross join lateral (
        select r.line from ferry.import_recipients r
        where r.import_id = g.import_id and r.line > g.before and r.line < g.from_line order by r.line limit 1
      ) r
      where g.from_line > g.before + 1`,
    found: ({ import: id, line }) =>
      `ferry.import_recipients: line ${line} of import ${id} is in no batch, and would never be sent`,
    whatToDo: SENT_TWICE,
  }),
  check(BatchRow.extend({ rows: z.number(), found: z.number() }), {
    name: 'batch rows',
    holds: 'a batch has as many recipients as it counts',
    broken: `
      select b.id::text, b.import_id::text as import, b.rows, r.found
      from ferry.import_batches b
      cross join lateral (
        select count(*)::int as found from ferry.import_recipients r
        where r.import_id = b.import_id and r.line between b.from_line and b.to_line
      ) r
      where b.state <> 'split' and r.found <> b.rows`,
    found: row =>
      `${batch(row)} counts ${counted(row.rows, 'row')}, but has ${counted(row.found, 'recipient')}`,
    whatToDo: SENT_TWICE,
  }),
  check(BatchRow.extend({ state: z.string(), hasCall: z.boolean(), isClaimed: z.boolean() }), {
    name: 'batch calls',
    holds: 'a sent batch has its call in the call log, and a batch in flight has a claim that ends',
    broken: `
      select b.id::text, b.import_id::text as import, b.state, b.call_id is null or c.id is not null as has_call,
        b.claim is not null as is_claimed
      from ferry.import_batches b
      left join ferry.platform_calls c on c.id = b.call_id
      where (b.state = 'in flight') <> (b.claim is not null) or (b.state = 'in flight' and b.claim_ends_at is null)
        or (b.call_id is not null and c.id is null)
        or (b.state = 'sent' and (b.sent_at is null or (b.call_id is null and b.message is distinct from $1)))`,
    values: [RESOLVED_AS_SENT],
    found: row =>
      `${batch(row)} is ${row.state}, ${row.hasCall ? (row.state === 'sent' ? 'but no call of it is known' : `and has ${row.isClaimed ? 'a' : 'no'} claim`) : 'but its call is not in ferry.platform_calls'}`,
    whatToDo:
      'Find out on the platform whether its rows arrived; compare the batch and ferry.platform_calls with a backup.',
  }),
]
