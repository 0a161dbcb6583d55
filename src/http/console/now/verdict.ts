import { isLate } from '#src/reports/freshness.ts'
import type { Readiness } from '../../readiness.ts'
import type { Tone } from '../parts/values.ts'
import { MAX_SHOWN, type NowFacts } from './load-now.ts'

/** The answer to "is everything all right?". */
export type Verdict = {
  readonly tone: Tone
  /** In two words. */
  readonly word: string
  /** In one sentence. */
  readonly sentence: string
}

type Facts = Pick<NowFacts, 'inventories' | 'workers' | 'holds' | 'imports' | 'schedules'>

/** Names what is wrong and what waits for a person; if there is neither, what is well. */
export function verdictOf(facts: Facts, readiness: Readiness): Verdict {
  const wrong = whatIsWrong(facts, readiness)
  const waits = whatWaits(facts)
  if (wrong.length > 0)
    return { tone: 'bad', word: 'Not all right', sentence: sentenceOf([...wrong, ...waits]) }
  if (waits.length > 0) {
    const isAsked = facts.holds.length + facts.imports.length > 0
    return { tone: 'warn', word: isAsked ? 'Please decide' : 'Look here', sentence: sentenceOf(waits) }
  }
  const { inventories, workers } = facts
  if (inventories.length === 0) {
    return { tone: 'quiet', word: 'Nothing yet', sentence: 'No inventory was read so far.' }
  }
  const alive = workers.filter(({ isAlive }) => isAlive).length
  const well = [
    freshInWords(inventories),
    alive === 1 ? 'one worker is alive' : `${alive} workers are alive`,
    'nothing waits for a decision',
  ]
  return { tone: 'good', word: 'All right', sentence: sentenceOf(well) }
}

function freshInWords(inventories: Facts['inventories']): string {
  const fresh = inventories.filter(({ state }) => state === 'fresh').length
  const all = inventories.length
  if (fresh < all) return `${fresh} of ${all} inventories are fresh (for the others nothing is promised)`
  return all === 1 ? 'the inventory is fresh' : `all ${all} inventories are fresh`
}

function whatIsWrong({ inventories, workers }: Facts, { schema, queue }: Readiness): string[] {
  const late = inventories.filter(isLate).length
  const wrong: (string | false)[] = [
    queue !== 'ok' && 'the queue does not answer',
    schema !== null && schema !== 'ok' && 'the database is of another version of Ferry',
    !workers.some(({ isAlive }) => isAlive) && 'no worker is alive',
    late > 0 &&
      `${late} of ${inventories.length} ${inventories.length === 1 ? 'inventory' : 'inventories'} ${isOrAre(late)} late`,
  ]
  return wrong.filter(words => words !== false)
}

function whatWaits({ holds, imports, schedules }: Facts): string[] {
  const decisions = holds.length + imports.length
  const isMore = holds.length >= MAX_SHOWN || imports.length >= MAX_SHOWN
  const paused = schedules.filter(schedule => schedule.paused).length
  // One failure is no harm yet: an inventory that gets too old because of them is late.
  const failed = schedules.filter(({ lastOutcome }) => lastOutcome === 'failed').length
  const waits: (string | false)[] = [
    isMore && `at least ${decisions} decisions wait`,
    !isMore && decisions > 0 && `${counted(decisions, 'decision waits', 'decisions wait')}`,
    paused > 0 && `${counted(paused, 'schedule is', 'schedules are')} paused`,
    failed > 0 && `${counted(failed, 'schedule', 'schedules')} failed the last time`,
  ]
  return waits.filter(words => words !== false)
}

function counted(count: number, one: string, several: string): string {
  return count === 1 ? `one ${one}` : `${count} ${several}`
}

function isOrAre(count: number): string {
  return count === 1 ? 'is' : 'are'
}

/** `One inventory is late, and one decision waits.` */
function sentenceOf(parts: readonly string[]): string {
  const [first = '', ...others] = parts
  const last = others.pop()
  const text = last === undefined ? first : `${[first, ...others].join(', ')}, and ${last}`
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}
