import type { AlertRule } from '#src/model/alert-rule.ts'
import type { Listing } from '#src/model/listing.ts'
import { header, isJson, isSuccessStatus, readAnswer, type Scrub, type Verdict } from './answer.ts'
import { AlertRulesData } from './contract.ts'
import { dataHash } from './data-hash.ts'
import type { Answered } from './post.ts'
import { readRows } from './read-rows.ts'
import { ALERT_RULES } from './row-kinds.ts'

/** The alert rules of one folder, from one answer. */
export type AlertRulesBody = {
  /** Equal hashes mean equal data. Null if data and envelope cannot be told apart without parsing. */
  readonly dataHash: string | null
  /** Reads the rows. Each call does the work again. */
  listing(): Listing<AlertRule>
}

/** Reads an answer. If the hash of its data is known, the answer is parsed only when `listing` is called. */
export function readAlertRules(
  answer: Answered,
  knownHashes: ReadonlySet<string>,
  scrub: Scrub,
): Verdict<AlertRulesBody> {
  const mayBeListing = isSuccessStatus(answer.httpStatus) && isJson(header(answer, 'content-type'))
  const hashed = mayBeListing ? dataHash(answer.body) : null
  if (hashed === null || !knownHashes.has(hashed.hash)) return readNow(answer, hashed?.hash ?? null, scrub)

  const listing = () => {
    const verdict = readNow(answer, hashed.hash, scrub)
    if (!verdict.ok) throw new Error(`A listing known by its hash cannot be read: ${verdict.refusal.message}`)
    return verdict.data.listing()
  }
  return { ok: true, requestId: scrub(hashed.requestId), data: { dataHash: hashed.hash, listing } }
}

function readNow(answer: Answered, hash: string | null, scrub: Scrub): Verdict<AlertRulesBody> {
  const verdict = readAnswer(answer, AlertRulesData, scrub)
  if (!verdict.ok) return verdict
  const { value, mayBeDirty } = verdict.data
  return { ...verdict, data: { dataHash: hash, listing: () => readRows(ALERT_RULES, value, mayBeDirty) } }
}
