import type { Ferry } from '#src/ferry.ts'
import { explainLateness, type Freshness, isLate, loadFreshness } from '#src/reports/freshness.ts'
import { duration } from '../output.ts'
import type { Finding } from './finding.ts'

const CHECK = 'inventories'

/** Yields the inventories that are older than promised, with why. */
export async function* inventoryFindings({ pool }: Pick<Ferry, 'pool'>): AsyncGenerator<Finding> {
  const known = await loadFreshness(pool)
  const late = known.filter(isLate)
  yield* late.map(lateFinding)
  if (late.length > 0) return
  const found =
    known.length === 0 ? 'none was read so far; `ferry sync all` reads them' : 'none is older than promised'
  yield { check: CHECK, status: 'ok', found }
}

/** One that was never read may be read for the first time just now. That its runs fail is a failure all the same. */
function lateFinding(freshness: Freshness): Finding {
  const { account, inventory, state, whyLate, ageMs, promiseMs } = freshness
  const isFirst = state === 'never' && whyLate !== 'failed' && whyLate !== 'partial'
  const age =
    ageMs === null
      ? 'it was never read completely'
      : `it was read ${duration(Math.abs(ageMs))} ${ageMs < 0 ? 'in the future' : 'ago'}${promiseMs === null ? '' : `, and is to be read every ${duration(promiseMs)}`}`
  return {
    check: CHECK,
    status: isFirst ? 'warn' : 'fail',
    found: `account ${account}, ${inventory}: ${age}`,
    whatToDo:
      `${explainLateness(freshness) ?? ''} \`ferry sync ${inventory} --account ${account}\` reads it now.`.trim(),
  }
}
