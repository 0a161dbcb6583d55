import type { Pool } from 'pg'
import { z } from 'zod'
import type { Pause } from '#src/imports/move-import.ts'
import { isSamePage } from '#src/imports/page.ts'
import { MAY_BE_SENT } from '#src/imports/sent-elsewhere.ts'
import { type Exclusion, findHeldElsewhere, leaveOutSent, markMaybeSent } from './exclusion.ts'
import { readAcrossImports } from './pages.ts'

/*
 * What other imports have sent to the page meanwhile, found by an import that starts or continues: it leaves out the
 * recipients they have sent, and counts as resent those they may have sent.
 *
 *     begin ──► find rows (no lock) ──► change a page of rows (import locked) ──► ... ──► end
 *
 * It may take long after imports of millions, and a person who pauses, cancels or looks at the import must not wait for it.
 *
 * The next pass looks only at what was sent after this one. Which is after the other is told by the ids of calls, which only
 * grow; a clock may be set back. No worker sends to the page meanwhile: its lease is held, and no call of another import was
 * in flight when it began. So every call made before has its outcome and an id up to `excluding_to_call`, and every later
 * one has a higher id; a batch without a known call is always looked at. Whatever changes the outcome of an older call (a person's decision, an answer that came late) sets
 * `excluding_to_call` and `excluded_to_call` of the page's other imports to null: then everything is looked at again.
 */

export type ExclusionResult = {
  /** False if it was stopped: by the signal, by a pause or cancellation, or by a decision about another import. */
  readonly isWhole: boolean
  /** Why the import is to be paused instead of being sent. */
  readonly held: Pause | null
}

/**
 * Whether other imports have sent anything to the page since the last pass, or may have. If not, there is nothing to find, and
 * the rows of the import, which may be millions, need not be read.
 */
async function isAnySentSince(pool: Pool, { importId }: Exclusion): Promise<boolean> {
  const found = await readAcrossImports(
    pool,
    z.unknown(),
    `select from ferry.imports i
     join ferry.imports o on ${isSamePage('i', 'o')} and o.id <> i.id
     cross join lateral (
       select b.* from ferry.import_batches b
       where b.import_id = o.id and (b.state = 'sent' or ${MAY_BE_SENT} or b.resends > 0)
         and (b.call_id <= i.excluded_to_call) is not true limit 1) b
     where i.id = $1 limit 1`,
    [importId],
  )
  return found.length > 0
}

/**
 * Leaves out the recipients that others have sent and counts as resent those they may have sent, or finds why the import
 * is to be paused. With `--update` the uncertain ones come first: settings that may have arrived decide whether others
 * are the latest.
 */
export async function excludeAlreadySent(pool: Pool, exclusion: Exclusion): Promise<ExclusionResult> {
  if (!(await isAnySentSince(pool, exclusion))) return { isWhole: true, held: null }
  if (!exclusion.isUpdate && !(await leaveOutSent(pool, exclusion))) return STOPPED
  const held = await findHeldElsewhere(pool, exclusion)
  if (held) return { isWhole: true, held }
  if (!(await markMaybeSent(pool, exclusion))) return STOPPED
  if (exclusion.isUpdate && !(await leaveOutSent(pool, exclusion))) return STOPPED
  return { isWhole: true, held: null }
}

const STOPPED: ExclusionResult = { isWhole: false, held: null }
