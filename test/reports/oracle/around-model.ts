import { expect } from 'vitest'
import type { Resource } from '#src/model/resource.ts'
import type { TrueRow, Truth } from './platform-state.ts'

/*
 * What `ferry.around` must show of one inventory of one account, from what the platform was at each complete reading. It
 * shares no SQL with Ferry. Instants are in microseconds.
 */

/** From `at - span` to `at + span`, both included. */
export type Span = { readonly at: bigint; readonly span: bigint }

export type Read = {
  readonly run: bigint
  readonly start: bigint
  readonly applied: bigint
  /** `0`: all. */
  readonly folder: string
  readonly accepted: boolean
  readonly truth: Truth
  /** How the run ended. */
  readonly status: string
}

export type Shown = {
  readonly kind: string
  readonly account: string
  readonly inventory: Resource
  readonly id: string | null
  readonly since: string | null
  readonly at: string | null
  readonly silenced: boolean | null
}
type Event = Omit<Shown, 'since' | 'at'> & {
  readonly since: bigint | null
  readonly at: bigint
  readonly run: bigint
}
/** Of a rule that a hold no longer names, nobody knows whether it was held. */
type Known = boolean | 'either'
type Reading = Read & { readonly knewScope: boolean; readonly firing: Map<string, Known> }
type Blind = { readonly since: bigint | null; readonly at: bigint | null; readonly run: bigint | null }

export type Witness = {
  readonly account: string
  readonly resource: Resource
  /** How long may be between readings. Null: there is no freshness target, and they are soon enough. */
  readonly target: bigint | null
  readonly readings: readonly Reading[]
  readonly events: readonly Event[]
  readonly blind: readonly Blind[]
  see(read: Read): void
  /** A run failed. */
  seeFailure(): void
  /** Whether a reading left something open: a row that could not be read, or a removal that is held. */
  isUnsure(): boolean
}

const GUARD = { rows: 1, share: 0.25 }

export function newWitness(account: string, resource: Resource, target: bigint | null): Witness {
  const readings: Reading[] = []
  const events: Event[] = []
  const known = new Map<string, TrueRow>()
  const everKnown = new Set<string>()
  const scopes = new Set<string>()
  /** From which reading on nothing certain is known of a row: it could not be read, or its removal is held. */
  const broken = new Map<string, number>()
  const held = new Map<string, number>()
  let wasTried = false
  const isRules = resource === 'alert-rules'

  function see(read: Read) {
    const { truth, folder, applied, run, start } = read
    const isInScope = (row: TrueRow) => folder === '0' || row.folder === folder
    const listed = new Map([...truth].filter(([, row]) => isInScope(row)))
    const inScope = [...known].filter(([, row]) => isInScope(row))
    const absent = inScope.filter(([id]) => !listed.has(id)).map(([id]) => id)
    const knewScope = scopes.has(folder)
    const tooMany =
      absent.length === inScope.length || absent.length > Math.max(GUARD.rows, GUARD.share * inScope.length)
    const outcome = absent.length === 0 || !knewScope ? 'keep' : tooMany && !read.accepted ? 'hold' : 'remove'
    expect(read.status).toBe(outcome === 'hold' ? 'held' : 'succeeded')

    const sinceOf = (row: TrueRow, isAbsence: boolean, from = readings.length) =>
      readings
        .slice(0, from)
        .filter(one => (one.folder === '0' || one.folder === row.folder) && (!isAbsence || one.knewScope))
        .at(-1)?.start ?? null
    const add = (kind: string, id: string | null, since: bigint | null, silenced: boolean | null = null) =>
      events.push({ kind, account, inventory: resource, id, since, silenced, at: applied, run })
    const prefix = isRules ? 'rule' : 'server'
    let firstRead = 0
    let newlyHeld = 0

    for (const [id, row] of listed) {
      if (row.broken) {
        if (!broken.has(id)) broken.set(id, readings.length)
        continue
      }
      const before = known.get(id)
      const from = Math.min(
        broken.get(id) ?? readings.length,
        outcome === 'hold' ? readings.length : (held.get(id) ?? readings.length),
      )
      broken.delete(id)
      known.set(id, row)
      if (before === undefined) {
        const since = sinceOf(row, false, from)
        const isFirst = sinceOf(row, false) === null
        if (isFirst) firstRead += 1
        else {
          add(`${prefix}.${everKnown.has(id) ? 'returned' : 'added'}`, id, since, isRules ? row.firing : null)
          if (row.firing && Number(id) % 2 === 0) add('rule.fired', id, since)
        }
        everKnown.add(id)
        continue
      }
      const hasMoved = before.folder !== row.folder
      const since = sinceOf(before, false, from)
      const isEdited = before.enabled !== row.enabled || before.revision !== row.revision || hasMoved
      if (isEdited) {
        const kind = before.enabled === row.enabled ? 'changed' : row.enabled ? 'enabled' : 'disabled'
        add(`${prefix}.${kind}`, id, sinceOf(before, hasMoved, from), isRules ? before.firing : null)
      }
      if (row.firing && !before.firing) add('rule.fired', id, sinceOf(row, false, from))
      if (!row.firing && before.firing) add('rule.cleared', id, sinceOf(row, false, from))
      for (const _ of row.tools.filter(one => !before.tools.includes(one))) add('tool.added', id, since)
      for (const _ of before.tools.filter(one => !row.tools.includes(one))) add('tool.removed', id, since)
    }
    for (const id of absent) {
      const row = known.get(id) as TrueRow
      if (outcome === 'remove') {
        const from = Math.min(broken.get(id) ?? readings.length, held.get(id) ?? readings.length)
        add(`${prefix}.removed`, id, sinceOf(row, true, from), isRules ? row.firing : null)
        known.delete(id)
        broken.delete(id)
      } else if (outcome === 'hold' && !held.has(id)) {
        held.set(id, readings.length)
        newlyHeld += 1
      }
    }
    if (outcome !== 'hold') held.clear()
    else {
      for (const [id, from] of held) {
        if (absent.includes(id)) continue
        for (const { firing } of readings.slice(from)) if (firing.has(id)) firing.set(id, 'either')
        held.delete(id)
      }
    }
    if (firstRead > 0) add('inventory.first_read', null, start)
    if (newlyHeld > 0) {
      const since = readings.filter(one => one.folder === '0' && one.knewScope).at(-1)?.start ?? null
      add('removals.held', null, since)
    }
    scopes.add(folder)
    const firing = [...known].filter(([, row]) => row.firing).toSorted(([a], [b]) => Number(a) - Number(b))
    readings.push({
      ...read,
      knewScope,
      firing: new Map(firing.map(([id]) => [id, !broken.has(id) && !held.has(id)])),
    })
  }

  return {
    account,
    resource,
    target,
    readings,
    events,
    see,
    seeFailure() {
      wasTried = true
    },
    isUnsure: () => broken.size > 0 || held.size > 0,
    get blind() {
      const whole = readings.filter(countsFor(readings, target))
      if (readings.length === 0 && !wasTried && target === null) return []
      return [null, ...whole].flatMap((before, n): Blind[] => {
        const next = whole[n] ?? null
        // What lasts until now is longer than the target: the test waits.
        const isBlind =
          before === null || (target !== null && (next === null || next.applied - before.start > target))
        return isBlind
          ? [{ since: before?.applied ?? null, at: next?.applied ?? null, run: next?.run ?? null }]
          : []
      })
    },
  }
}

/** Readings of everything count, and those of the folders of the target; without one, of the folders that were read last. */
function countsFor(readings: readonly Reading[], target: bigint | null): (one: Reading) => boolean {
  const folder = target !== null ? '0' : readings.at(-1)?.folder
  return one => one.folder === '0' || one.folder === folder
}

/** What of it belongs to a span. */
export function eventsAround(
  { account, resource, target, readings, events, blind }: Witness,
  { at, span }: Span,
): Shown[] {
  const [from, to] = [at - span, at + span]
  const next = readings.filter(countsFor(readings, target)).find(({ start }) => start > to)
  const isIn = (since: bigint | null, until: bigint | null) =>
    (until === null || until >= from) && (since === null || since < to)
  const text = (one: bigint | null) => (one === null ? null : `${one}`)
  return [
    ...events.filter(one => isIn(one.since, one.at) && (next === undefined || one.run <= next.run)),
    ...blind
      .filter(
        one => isIn(one.since, one.at) && (next === undefined || (one.run !== null && one.run <= next.run)),
      )
      .map(({ since, at: until }) => ({
        kind: 'blind',
        account,
        inventory: resource,
        id: null,
        since,
        at: until,
        silenced: null,
      })),
  ].map(({ kind, account: of, inventory, id, since, at: until, silenced }) => ({
    kind,
    account: of,
    inventory,
    id,
    since: text(since),
    at: text(until),
    silenced,
  }))
}
