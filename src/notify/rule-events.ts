import type { PoolClient } from 'pg'
import {
  type EventData,
  type EventFilter,
  type EventKind,
  isRuleEvent,
  RULE_EVENTS,
  type RuleEvent,
} from '#src/model/event.ts'
import type { Receiver } from '#src/model/settings.ts'

/** What a run found of one kind, of the rules that a filter chooses. */
export type RuleSummary = {
  readonly kind: RuleEvent
  readonly rules: number
  /** Of the first rules by id; their names are in the same order. */
  readonly ids: readonly string[]
  readonly names: readonly string[]
  /** How many people did it, as far as the platform tells; ids and names of the first. */
  readonly people: number
  /** How many of the rules they did it to: of the others nobody knows. */
  readonly byPeople: number
  readonly peopleIds: readonly string[]
  readonly peopleNames: readonly string[]
  /** Of changes: the fields, without those about the edit, and how many rules have no other change. */
  readonly fields: readonly string[]
  readonly outsideBasicView: number
}

/** Counts what a run of an account found, by kind: those that `filter` chooses. */
export type SummarizeRules = (
  client: PoolClient,
  run: { readonly account: string; readonly run: string },
  filter: EventFilter,
) => Promise<readonly RuleSummary[]>

/** An event of rules, as it is stored. */
type RulesFound = {
  readonly id: string
  readonly kind: EventKind
  readonly account: string
  readonly data: EventData
}

/**
 * Returns, by event, what a receiver is told of rules; nothing for an event whose rules its filter leaves out. What one person did
 * in one run is one message: the first of its events tells the others too.
 */
export async function dataOfRules(
  client: PoolClient,
  { filter, details }: Pick<Receiver, 'filter' | 'details'>,
  events: readonly RulesFound[],
  summarizeRules: SummarizeRules,
): Promise<ReadonlyMap<string, EventData>> {
  const told = new Map<string, EventData>()
  const runs = Map.groupBy(events, ({ account, data: { run } }) => JSON.stringify([account, run]))
  for (const ofRun of runs.values()) {
    const [first] = ofRun
    if (!first) continue
    const run = `${first.data.run}`
    const summaries = await summarizeRules(client, { account: first.account, run }, filter)
    const found = ofRun
      .flatMap(({ id, kind }) => {
        const summary = summaries.find(one => one.kind === kind)
        return summary && isRuleEvent(kind) ? [{ id, summary }] : []
      })
      .toSorted((a, b) => RULE_EVENTS.indexOf(a.summary.kind) - RULE_EVENTS.indexOf(b.summary.kind))
    for (const [{ id, summary }, ...others] of inMessages(found)) {
      told.set(id, { ...first.data, ...dataOf(summary, details), ...besides(others.map(one => one.summary)) })
    }
  }
  return told
}

type Found = { readonly id: string; readonly summary: RuleSummary }

/** The messages of a run, each with the events that it tells. Who removed a rule is not known, so a removal stands alone. */
function inMessages(found: readonly Found[]): (readonly [Found, ...Found[]])[] {
  const ofPeople = found.filter(({ summary }) => summary.kind !== 'rule.removed')
  const [first, ...others] = ofPeople
  const people = new Set(ofPeople.flatMap(({ summary }) => summary.peopleIds))
  const isOfOne = people.size === 1 && ofPeople.every(({ summary }) => summary.byPeople === summary.rules)
  if (!first || !isOfOne) return found.map(one => [one])
  return [[first, ...others], ...found.filter(one => !ofPeople.includes(one)).map(one => [one] as const)]
}

function dataOf({ kind, ...summary }: RuleSummary, details: boolean): EventData {
  const { rules, ids, names, people, byPeople, peopleIds, peopleNames, fields, outsideBasicView } = summary
  return {
    rules,
    ruleIds: ids,
    ...(kind !== 'rule.removed' && { people, peopleIds }),
    ...(people > 0 && byPeople < rules && { byPeople }),
    ...(kind === 'rule.changed' && { fields, outsideBasicView }),
    ...(details && { names, ...(kind !== 'rule.removed' && { by: peopleNames }) }),
  }
}

/** What the same person did besides. */
function besides(others: readonly RuleSummary[]): EventData {
  const countOf = (kind: RuleEvent) => others.find(one => one.kind === kind)?.rules ?? 0
  if (others.length === 0) return {}
  return { alsoChanged: countOf('rule.changed'), alsoAdded: countOf('rule.added') }
}
