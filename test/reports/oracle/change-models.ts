import { fieldsThatDiffer, idOf, type Row } from './alert-models.ts'
import { isAt, type Seen, type Version } from './seen.ts'
import { DAY_MS, type Definition, MINUTE_MS } from './world.ts'

/* The rows of the reports about changes, from the events, by the words of their COMMENT. */

const isSame = (a: { account: string; id: string }, b: { account: string; id: string }) =>
  a.account === b.account && a.id === b.id
const editsSince = (seen: Seen, sinceMs: number) =>
  seen.rules
    .filter(one => one.follows && one.fromMs >= sinceMs)
    .map(one => ({ ...one, folder: one.of.folder, by: one.of.by }))

export function churn(seen: Seen, sinceMs: number): Row[] {
  type Kind = 'added' | 'changed' | 'removed' | 'returned' | 'first'
  const events: { account: string; folder: number; kind: Kind }[] = []
  for (const one of seen.rules) {
    const { account } = one
    const { folder } = one.of
    if (one.fromMs >= sinceMs) {
      const wasThere = seen.rules.some(before => isSame(before, one) && before.fromMs < one.fromMs)
      const kind =
        one.appeared === 'first reading' ? 'first' : one.follows ? 'changed' : wasThere ? 'returned' : 'added'
      events.push({ account, folder, kind })
    }
    const isReplaced = seen.rules.some(next => isSame(next, one) && next.fromMs === one.toMs)
    if (one.toMs !== null && one.toMs >= sinceMs && !isReplaced)
      events.push({ account, folder, kind: 'removed' })
  }
  const groups = Map.groupBy(events, one => JSON.stringify([one.account, one.folder]))
  return [...groups].map(([key, of]) => {
    const [account, folder] = JSON.parse(key)
    const count = (kind: Kind) => of.filter(one => one.kind === kind).length
    const now = seen.rules.filter(
      one => one.account === account && one.of.folder === folder && one.toMs === null,
    ).length
    return [
      account,
      BigInt(folder),
      count('added'),
      count('changed'),
      count('removed'),
      count('returned'),
      of.length - count('first'),
      now,
      count('first'),
    ]
  })
}

export function editors(seen: Seen, sinceMs: number): Row[] {
  const folders = Map.groupBy(editsSince(seen, sinceMs), one => JSON.stringify([one.account, one.folder]))
  return [...folders].flatMap(([key, edits]) => {
    const [account, folder] = JSON.parse(key)
    const people = Map.groupBy(edits, one => one.by)
    return [...people].map(([by, of]) => [
      account,
      BigInt(folder),
      by,
      of.length,
      of.length / edits.length,
      new Date(Math.max(...of.map(one => one.fromMs))),
      people.size === 1,
    ])
  })
}

export const ruleEdits = (seen: Seen, sinceMs: number): Row[] =>
  editsSince(seen, sinceMs).map(one => [
    one.account,
    BigInt(one.id),
    BigInt(one.folder),
    idOf(one.by),
    new Date(one.fromMs),
  ])

export function massEdits(seen: Seen, sinceMs: number, atLeast: number): Row[] {
  const HOUR_MS = 60 * MINUTE_MS
  const people = Map.groupBy(editsSince(seen, sinceMs), one => JSON.stringify([one.account, one.by]))
  return [...people].flatMap(([key, unsorted]) => {
    const edits = unsorted.toSorted((a, b) => a.fromMs - b.fromMs)
    const inHourOf = (ms: number) => edits.filter(one => one.fromMs >= ms && one.fromMs <= ms + HOUR_MS)
    const rulesOf = (some: readonly { id: string }[]) => new Set(some.map(one => one.id)).size
    const busy = edits.map(one => one.fromMs).filter(ms => rulesOf(inHourOf(ms)) >= atLeast)
    const bursts: { fromMs: number; toMs: number }[] = []
    for (const ms of busy) {
      const last = bursts.at(-1)
      if (last && ms - (last.toMs - HOUR_MS) <= HOUR_MS) last.toMs = ms + HOUR_MS
      else bursts.push({ fromMs: ms, toMs: ms + HOUR_MS })
    }
    return bursts.map(({ fromMs, toMs }) => {
      const of = edits.filter(one => one.fromMs >= fromMs && one.fromMs <= toMs)
      const endedMs = Math.max(...of.map(one => one.fromMs))
      const folders = new Set(of.map(one => one.folder)).size
      return [...JSON.parse(key), new Date(fromMs), new Date(endedMs), rulesOf(of), of.length, folders]
    })
  })
}

export function changesBetween(seen: Seen, aMs: number, bMs: number): Row[] {
  const rows: Row[] = []
  function compare<Of extends { name: string }>(
    inventory: string,
    all: readonly Version<Of>[],
    more: (now: Of | undefined, before: Of | undefined) => Row,
  ) {
    const ids = new Map(all.map(({ account, id }) => [`${account} ${id}`, { account, id }]))
    for (const one of ids.values()) {
      const of = all.filter(version => isSame(version, one))
      const [before, now] = [of.find(v => isAt(v, aMs))?.of, of.find(v => isAt(v, bMs))?.of]
      if (JSON.stringify(before) === JSON.stringify(now)) continue
      const first = of.filter(v => v.fromMs > aMs).toSorted((x, y) => x.fromMs - y.fromMs)[0]
      const change = !before ? 'added' : !now ? 'removed' : 'changed'
      const isFirstReading = change === 'added' && aMs < bMs && first?.appeared === 'first reading'
      rows.push([
        one.account,
        inventory,
        change,
        one.id,
        (now ?? before)?.name,
        isFirstReading,
        ...more(now, before),
      ])
    }
  }
  compare<Definition>('alert-rules', seen.rules, (now, before) => [
    BigInt((now ?? before)?.folder ?? 0),
    now?.by ?? null,
    now && before ? keysOf(now, before) : null,
  ])
  compare('mcp-servers', seen.servers, () => [null, null, 'any'])
  return rows
}

function keysOf(now: Definition, before: Definition): string {
  const people = now.by === before.by ? [] : ['updater_id', 'updater_name']
  return [...fieldsThatDiffer(now, before), ...people].toSorted().join(' ')
}

export const dayOf = (ms: number) => new Date(Math.floor(ms / DAY_MS) * DAY_MS).toISOString().slice(0, 10)
