import { type Command, Option } from 'commander'
import type { Pool } from 'pg'
import { differencesOf, factsInWords, fieldsFrom } from '#src/inventory/history/differences.ts'
import { counted } from '#src/model/counted.ts'
import { duration } from '#src/model/duration.ts'
import type { Around, AroundFilter, AroundRow, FiringThen } from '#src/reports/around.ts'
import { expectAccount } from './accounts.ts'
import {
  everyArgument,
  instantArgument,
  limitArgument,
  oneFolderArgument,
  wordsArgument,
} from './arguments.ts'
import { withFerry } from './command-context.ts'
import { UsageError } from './errors.ts'
import { EXIT } from './exit.ts'
import { noteFuture, noteRunsStart, noteSuggested, noteUnread } from './history-note.ts'
import { emphasised, harmless, instant, print, printAside, printJson, printTable } from './output.ts'

type Options = {
  around: number
  account?: string
  folder?: bigint
  team?: string
  match?: string
  limit: number
  json?: true
}

export function addAt(program: Command): void {
  program
    .command('at')
    .description('what happened around a moment, what was firing, and which minutes are not known')
    .argument('<time>', 'the moment: 2026-11-24T03:12Z, or how long ago: 2h', instantArgument)
    .addOption(
      new Option('--around <duration>', 'how far before and after it')
        .default(3_600_000, '1h')
        .argParser(everyArgument),
    )
    .option('--account <name>', 'only this account')
    .option('--folder <id>', 'only the rules of this folder', oneFolderArgument)
    .option('--team <name>', 'only the rules of this team', wordsArgument)
    .option(
      '--match <words>',
      "only what has these words in its name or labels: an alert's name, a service",
      wordsArgument,
    )
    .option('--limit <n>', 'how many of each', limitArgument, 200)
    .option('--json', 'print one JSON object')
    .action((asked: Date, options: Options) =>
      withFerry('read', async ferry => {
        await expectAccount(ferry, options.account)
        const {
          loadAround,
          blindAt,
          isNothing,
          kindInWords: kind,
          firingInWords: firing,
        } = await import('#src/reports/around.ts')
        const { around: spanMs, account, folder, team, match: words, limit, json } = options
        const at = await noteFuture(ferry.pool, asked)
        const filter = { at, spanMs, account, folder, team, words }
        const [from, until] = [at.getTime() - spanMs, at.getTime() + spanMs].map(ms => new Date(ms)) as [
          Date,
          Date,
        ]
        await expectKept(ferry.pool, at, from)
        const found = await loadAround(ferry.pool, filter, limit)
        if (found.rows.some(row => row.kind === 'blind')) await noteRunsStart(ferry.pool, from)
        if (json) printJson({ at, from, until, ...jsonOfAround(found) })
        else {
          const isBlind = blindAt(found, at).some(({ inventory }) => inventory === 'alert-rules')
          printAround(filter, found, { kind, firing, isBlind })
        }
        if (!isNothing(found)) return EXIT.done
        await noteUnread(ferry.pool)
        await noteSuggested(ferry.pool, 'alert-rules', { words, folder, team })
        return EXIT.done
      }),
    )
}

/** A shorter time around the moment may be kept. */
async function expectKept(pool: Pool, at: Date, from: Date): Promise<void> {
  const { loadHistoryStart } = await import('#src/inventory/history/history-start.ts')
  const start = await loadHistoryStart(pool)
  if (start === null || start <= from) return
  const minutes = Math.floor((at.getTime() - start.getTime()) / 60_000)
  const remedy = minutes < 1 ? 'Ask for a later moment.' : `\`--around ${minutes}m\` shows what is kept.`
  throw new UsageError(
    `the history starts at ${instant(start)}: what ended before was removed (FERRY_KEEP_VERSIONS). ${remedy}`,
  )
}

function jsonOfAround({ rows, firing, isCut }: Around) {
  const events = rows.map(row => ({ ...row, before: fieldsFrom(row.before), after: fieldsFrom(row.after) }))
  return { events, firing, isCut }
}

function printAround(
  { at, spanMs }: AroundFilter,
  { rows, firing, isCut }: Around,
  inWords: { kind(row: AroundRow): string; firing(one: FiringThen): string; isBlind: boolean },
) {
  const isOfSeveral = new Set([...rows, ...firing].map(({ account }) => account)).size > 1
  const ofAccount = ({ account }: { account: string }) => (isOfSeveral ? [account] : [])
  const accountHead = isOfSeveral ? ['account'] : []
  print(emphasised(`Firing at ${instant(at)}`))
  printTable(
    ['rule', 'for', 'since', 'until', 'team', 'state', ...accountHead],
    firing.map(one => [
      one.name,
      one.firedForMs === null ? null : duration(one.firedForMs),
      one.began,
      one.ended,
      one.team,
      `${inWords.firing(one)}${one.enabled ? '' : ', disabled'}`,
      ...ofAccount(one),
    ]),
    inWords.isBlind ? 'No rule is known to have fired: not everything was read then.' : 'No rule.',
  )
  print(`\n${emphasised(`${duration(spanMs)} before and after, as observed`)}`)
  printTable(
    ['between', 'and', 'what', 'of', 'how', 'by', ...accountHead],
    rows.map(row => [
      clockOf(row.since, at),
      clockOf(row.observedAt, at),
      inWords.kind(row),
      subjectOf(row),
      detailOf(row),
      row.who,
      ...ofAccount(row),
    ]),
    'Nothing happened.',
  )
  const blind = rows.filter(({ kind }) => kind === 'blind')
  if (blind.length > 0) {
    if (process.stdout.isTTY) printBlind(blind, { at, spanMs })
    printAside(
      `ferry: nothing is known of ${counted(blind.length, 'stretch', 'stretches')} of that time. \`ferry report blind_spots\` says why, for accounts with a schedule and after their first reading.`,
    )
  }
  if (isCut) printAside('ferry: there is more. A higher --limit, or --folder, --team and --match, show it.')
}

const STRIP_CHARACTERS = 49

/** Draws when each inventory was read (`-`) and when not (`?`), around the moment (`|`). */
function printBlind(blind: readonly AroundRow[], { at, spanMs }: Pick<AroundFilter, 'at' | 'spanMs'>): void {
  print(`\n${emphasised('Read: -, not known: ?, the moment: |')}`)
  for (const [name, its] of Map.groupBy(blind, subjectOf)) {
    print(`${strip(its, at.getTime(), spanMs, Date.now())} ${harmless(name)}`)
  }
}

/** One character for each part of the time, none for what is still to come. A part is not known if any of it is not. */
export function strip(
  blind: readonly Pick<AroundRow, 'since' | 'observedAt'>[],
  atMs: number,
  spanMs: number,
  nowMs: number,
): string {
  const partMs = (2 * spanMs) / STRIP_CHARACTERS
  const parts = Array.from({ length: STRIP_CHARACTERS }, (_, n) => {
    const [from, to] = [atMs - spanMs + n * partMs, atMs - spanMs + (n + 1) * partMs]
    const isBlind = blind.some(
      ({ since, observedAt }) =>
        (since?.getTime() ?? -Infinity) < to && (observedAt?.getTime() ?? Infinity) > from,
    )
    if (from >= nowMs) return ' '
    return isBlind ? '?' : '-'
  })
  const middle = (STRIP_CHARACTERS - 1) / 2
  return [...parts.slice(0, middle), '|', ...parts.slice(middle + 1)].join('')
}

/** The instant, without the day if it is that of the moment. */
function clockOf(one: Date | null, at: Date): string | null {
  if (one === null) return null
  const [day, time] = instant(one).split(' ') as [string, string]
  return instant(at).startsWith(day) ? time : `${day} ${time}`
}

function subjectOf({ kind, name, id, inventory, account, before, after }: AroundRow): string {
  if (inventory !== null && id === null) return `${inventory} of ${account}`
  const tool = kind.startsWith('tool.') && (fieldsFrom(after) ?? fieldsFrom(before))?.tool
  if (tool) return `${tool} of ${name ?? id}`
  return kind === 'decision' || kind.startsWith('import.') ? `${name} (${id})` : (name ?? id ?? account)
}

function detailOf({ kind, before, after }: AroundRow): string {
  const [old, now] = [fieldsFrom(before), fieldsFrom(after)]
  if (kind.startsWith('tool.')) return `${old?.description ?? ''} → ${now?.description ?? ''}`
  return old === null ? factsInWords(now) : differencesOf(old, now)
}
