import { IS_UNCERTAIN } from './states.ts'
/*
 * In SQL, the rules by which an import knows which recipients other imports have sent to its page, or may have sent. The
 * preview of a staged import (`staging/sent-before.ts`) and the work on an import (`sending/start.ts`) must
 * agree, so both are made of these. `b` is a batch of another import and `s` one of its rows.
 */

/** The rows `s` of batch `b`. OFFSET keeps the planner from joining them by import alone: that would read rows times batches. */
export const ROWS_OF_BATCH = `
  cross join lateral (
    select s.* from ferry.import_recipients s
    where s.import_id = b.import_id and s.line between b.from_line and b.to_line offset 0) s`

/** Whether `b` may have been sent, though it is not in state `sent`: it is uncertain, or it was resent after an uncertain outcome. */
export const MAY_BE_SENT = `(b.state not in ('sent', 'split') and b.state not in ('rejected', 'left out')
  and (${IS_UNCERTAIN} or b.resends > 0))`

/**
 * How often the import of `b`, with `is_uncertain` as above, may itself have sent `s`. 0 if it has not: then `resends` counts
 * what other imports before it may have sent.
 */
export const TIMES_MAYBE_SENT = `greatest(
  b.resends + (b.state = 'uncertain')::int - coalesce(s.maybe_sent, 0), b.is_uncertain::int)`

/** Whether an import waits for a decision about an uncertain batch of another: one of the two is to hold uncertain rows. */
export function isHeldFor(isUncertain: string, theirs: string, mine: string): string {
  return `(${isUncertain} and 'hold' in (${theirs}, ${mine}))`
}

/** Whether two rows are to be sent with the same settings. */
export function haveSameSettings(one: string, other: string): string {
  return `(${one}.locale = ${other}.locale and ${one}."all" = ${other}."all" and (${one}."all" or (
    ${one}.component_ids @> ${other}.component_ids and ${one}.component_ids <@ ${other}.component_ids)))`
}
