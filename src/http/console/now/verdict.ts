import { counted, isOrAre, number } from '#src/model/counted.ts'
import { type DatabaseChange, isNews } from '#src/model/database-change.ts'
import { duration } from '#src/model/duration.ts'
import { isLate } from '#src/reports/freshness.ts'
import type { Readiness } from '../../readiness.ts'
import { capital, type Tone } from '../parts/values.ts'
import { areDecisionsCut, MAX_SHOWN, type NowFacts } from './load-now.ts'

/** The answer to "does anything need attention?". */
export type Verdict = {
  readonly tone: Tone
  /** In two words. */
  readonly word: string
  /** In one sentence. */
  readonly sentence: string
}

type Facts = Pick<
  NowFacts,
  'inventories' | 'workers' | 'holds' | 'imports' | 'running' | 'stuck' | 'schedules' | 'databaseChanges'
>

/** Names what is wrong and what waits for a person; if neither, what is fine. Running imports are always named. */
export function verdictOf(facts: Facts, readiness: Readiness): Verdict {
  const wrong = whatIsWrong(facts, readiness)
  const waits = whatWaits(facts)
  const runs = progressInWords(facts.running)
  if (wrong.length > 0)
    return { tone: 'bad', word: 'Needs attention', sentence: sentenceOf([...wrong, ...waits, ...runs]) }
  if (waits.length > 0) {
    const isAsked = facts.holds.length + facts.imports.length > 0
    return {
      tone: 'warn',
      word: isAsked ? 'Decision needed' : 'Heads-up',
      sentence: sentenceOf([...waits, ...runs]),
    }
  }
  const { inventories, workers } = facts
  if (inventories.length === 0) {
    return {
      tone: 'quiet',
      word: 'Nothing yet',
      sentence: sentenceOf(['no inventory has been read yet', ...runs]),
    }
  }
  const alive = workers.filter(({ isAlive }) => isAlive).length
  const well = [
    freshInWords(inventories),
    alive === 1 ? 'one worker is alive' : `${alive} workers are alive`,
    ...runs,
    'nothing waits for a decision',
  ]
  return { tone: 'good', word: 'All right', sentence: sentenceOf(well) }
}

function freshInWords(inventories: Facts['inventories']): string {
  const fresh = inventories.filter(({ state }) => state === 'fresh').length
  const all = inventories.length
  if (fresh < all)
    return `${fresh} of ${counted(all, 'inventory', 'inventories')} ${isOrAre(fresh)} fresh (the others have no freshness target)`
  return all === 1 ? 'the inventory is fresh' : `all ${all} inventories are fresh`
}

function whatIsWrong({ inventories, workers, stuck }: Facts, { schema, queue }: Readiness): string[] {
  const late = inventories.filter(isLate).length
  const isAnyAlive = workers.some(({ isAlive }) => isAlive)
  const wrong: (string | false)[] = [
    queue !== 'ok' && 'the queue does not answer',
    schema !== null && schema !== 'ok' && 'the database belongs to another version of Ferry',
    !isAnyAlive && 'no worker is alive',
    ...(isAnyAlive ? stuckInWords(stuck) : []),
    late > 0 && `${late} of ${counted(inventories.length, 'inventory', 'inventories')} ${isOrAre(late)} late`,
  ]
  return wrong.filter(words => words !== false)
}

/** The most imports that are named; more are counted. */
const MAX_NAMED = 3

function progressInWords(running: Facts['running']): string[] {
  if (running.length > MAX_NAMED) {
    return [`${manyImports(running.length)} are running`]
  }
  return running.map(
    ({ id, sent, toBeSent }) => `import ${id} has sent ${number(sent)} of ${counted(toBeSent, 'row')}`,
  )
}

function stuckInWords(stuck: Facts['stuck']): string[] {
  const still = stuck.filter(({ why }) => why !== 'calls fail')
  if (still.length > MAX_NAMED) return [`${manyImports(still.length)} do not go on`]
  return still.map(({ id, why, idleMs }) =>
    why === 'no worker'
      ? `no worker sends import ${id}`
      : `import ${id} has sent no row for ${duration(idleMs)}`,
  )
}

function failingInWords(running: Facts['running']): string[] {
  const failing = running.filter(({ failures }) => failures > 0)
  if (failing.length > MAX_NAMED) {
    return [`the last calls of ${manyImports(failing.length)} failed`]
  }
  return failing.map(({ id, failures }) =>
    failures === 1
      ? `the last call of import ${id} failed`
      : `the last ${number(failures)} calls of import ${id} failed`,
  )
}

/** If the list is full, there may be more. */
function manyImports(count: number): string {
  return `${count >= MAX_SHOWN ? 'at least ' : ''}${count} imports`
}

function whatWaits({ holds, imports, running, schedules, databaseChanges }: Facts): string[] {
  const decisions = holds.length + imports.length
  const isMore = areDecisionsCut({ holds, imports })
  const paused = schedules.filter(schedule => schedule.paused).length
  // One failure is no harm yet: an inventory that gets too old because of them is late.
  const failed = schedules.filter(({ lastOutcome }) => lastOutcome === 'failed').length
  const waits: (string | false)[] = [
    ...databaseChanges.filter(isNews).map(missingInWords),
    ...failingInWords(running),
    isMore && `at least ${decisions} decisions wait`,
    !isMore && decisions > 0 && `${inWords(decisions, 'decision waits', 'decisions wait')}`,
    paused > 0 && `${inWords(paused, 'schedule is', 'schedules are')} paused`,
    failed > 0 && `${inWords(failed, 'schedule', 'schedules')} failed last time`,
  ]
  return waits.filter(words => words !== false)
}

function missingInWords({ missingSince }: DatabaseChange): string {
  const since = missingSince === null ? '' : ` since ${missingSince.toISOString()}`
  return `rows written${since} may be missing, because the database was restored or replaced`
}

function inWords(count: number, one: string, several: string): string {
  return count === 1 ? `one ${one}` : `${count} ${several}`
}

/** `One inventory is late, and one decision waits.` */
function sentenceOf(parts: readonly string[]): string {
  const [first = '', ...others] = parts
  const last = others.pop()
  const text = last === undefined ? first : `${[first, ...others].join(', ')}, and ${last}`
  return `${capital(text)}.`
}
