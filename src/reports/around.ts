import type { Pool } from 'pg'
import { z } from 'zod'
import { findAll } from '#src/db/rows.ts'
import { endOfMillisecond } from '#src/model/instant.ts'
import { RESOURCES } from '#src/model/resource.ts'

/*
 * The incident lens: what happened around a moment, and what was firing at it. See the functions `ferry.around` and
 * `ferry.firing_at`.
 */

export const AROUND_KINDS = [
  'rule.added',
  'rule.changed',
  'rule.disabled',
  'rule.enabled',
  'rule.removed',
  'rule.returned',
  'rule.fired',
  'rule.cleared',
  'server.added',
  'server.changed',
  'server.removed',
  'server.returned',
  'tool.added',
  'tool.removed',
  'tool.changed',
  'decision',
  'import.started',
  'import.ended',
  'inventory.first_read',
  'removals.held',
  'blind',
] as const

/** What happened after `since` and not later than `observedAt`, or, if it is `blind`, a time of which nothing is known. */
const AroundRow = z.object({
  /** Null: nobody knows since when it may have happened. */
  since: z.date().nullable(),
  /** Null: the time of which nothing is known has not ended. */
  observedAt: z.date().nullable(),
  kind: z.enum(AROUND_KINDS),
  account: z.string(),
  inventory: z.enum(RESOURCES).nullable(),
  id: z.string().nullable(),
  name: z.string().nullable(),
  folderId: z.string().nullable(),
  team: z.string().nullable(),
  who: z.string().nullable(),
  /** Fields as JSON text: ids in it may exceed 2^53. */
  before: z.string().nullable(),
  after: z.string().nullable(),
  /** Of a change of a rule: whether the rule was firing. */
  whileFiring: z.boolean().nullable(),
  runId: z.string().nullable(),
})
export type AroundRow = Readonly<z.infer<typeof AroundRow>>

/** A rule that was firing at a moment. */
const FiringThen = z.object({
  account: z.string(),
  id: z.string(),
  name: z.string(),
  folderId: z.string(),
  team: z.string().nullable(),
  enabled: z.boolean(),
  began: z.date(),
  ended: z.date().nullable(),
  /** Until the moment. Null: it was first seen firing after it. */
  firedForMs: z.number().nullable(),
  /** False: nothing complete was read for long, or the rule was not in what was read, so nobody knows of the moment itself. */
  known: z.boolean(),
})
export type FiringThen = Readonly<z.infer<typeof FiringThen>>

/** The moment, and what narrows what is shown of it. */
export type AroundFilter = {
  readonly at: Date
  /** As much before the moment as after it. */
  readonly spanMs: number
  readonly account?: string | undefined
  /** A folder or a team leaves rules alone, and the times in which they were not read. */
  readonly folder?: bigint | undefined
  readonly team?: string | undefined
  /** Each of these words is in the name or in the labels. */
  readonly words?: string | undefined
}

export type Around = {
  readonly rows: readonly AroundRow[]
  readonly firing: readonly FiringThen[]
  /** Whether there are more than `limit` of either. */
  readonly isCut: boolean
}

/** Whether no rule or server was found: what was not read, or was read as a whole, has no id. */
export function isNothing({ rows, firing }: Around): boolean {
  return firing.length === 0 && rows.every(({ id }) => id === null)
}

/** The times in which nothing was read that the moment is in. */
export function blindAt({ rows }: Pick<Around, 'rows'>, moment: Date): AroundRow[] {
  return rows.filter(
    ({ kind, since, observedAt }) =>
      kind === 'blind' &&
      (since === null || since <= moment) &&
      (observedAt === null || observedAt >= moment),
  )
}

/**
 * Returns what happened around a moment, in the order of observation, and what was firing, the longest first: at most `limit` of each,
 * and all times in which nothing was read. `textOf` is the SQL that writes a column of fields: a page cuts long values.
 */
export async function loadAround(
  pool: Pool,
  filter: AroundFilter,
  limit: number,
  textOf = (fields: string) => `${fields}::text`,
): Promise<Around> {
  const { at, spanMs, account = null, folder = null, team = null, words = '' } = filter
  const narrowed = [account, folder, team, words.split(/\s+/).filter(word => word !== ''), limit + 1]
  const [rows, firing] = await Promise.all([
    findAll(pool, NumberedRow, around(textOf), [at, ...narrowed, spanMs]),
    findAll(pool, FiringThen, FIRING_AT, [endOfMillisecond(at), ...narrowed]),
  ])
  const isBeyond = ({ kind, nth }: z.infer<typeof NumberedRow>) => kind !== 'blind' && nth > limit
  return {
    rows: rows.filter(row => !isBeyond(row)).map(({ nth: _, ...row }) => row),
    firing: firing.slice(0, limit),
    isCut: rows.some(isBeyond) || firing.length > limit,
  }
}

/** By its number among the events, or among the times in which nothing was read. */
const NumberedRow = AroundRow.extend({ nth: z.number() })

/** Of a longer name, the beginning is enough. */
const MAX_NAME = 200

/** Whether `of` has every word of $5. */
const hasWords = (of: string) =>
  `not exists (select from unnest($5::text[]) w where strpos(lower(concat_ws(' ', ${of})), lower(w)) = 0)`

/** There are few: a gap is longer than a freshness target. If there are more, those that the moment is in come first. */
const MAX_BLIND = 1_000

/** In the order of the function. Times in which nothing was read stay, whatever is asked for and however much happened. */
const around = (textOf: (fields: string) => string) => `
  select since, observed_at, kind, account, inventory, id, left(name, ${MAX_NAME}) as name, folder_id::text, team, left(who, ${MAX_NAME}) as who,
    ${textOf('before')} as before, ${textOf('after')} as after, while_firing, run_id::text, nth::int
  from (
    select e.*, row_number() over (partition by kind = 'blind'
      order by kind = 'blind' and coalesce(since, '-infinity') <= $1 and coalesce(observed_at, 'infinity') >= $1 desc, ordinality) as nth
    from ferry.around($1, $7 * interval '1 ms') with ordinality e
    where account in (coalesce($2, account), '*') and (
    kind in ('blind', 'inventory.first_read', 'removals.held')
      and (inventory = 'alert-rules' or ($3::numeric is null and $4::text is null))
    or ($3::numeric is null or folder_id = $3) and ($4::text is null or team = $4)
      and ${hasWords(`name, labels::text, before ->> 'tool', after ->> 'tool'`)})
  ) e
  where nth <= case when kind = 'blind' then ${MAX_BLIND} else $6 end order by ordinality`

const FIRING_AT = `
  select account, id::text, left(name, ${MAX_NAME}) as name, folder_id::text, team, enabled, began, ended,
    (extract(epoch from fired_for) * 1000)::float8 as fired_for_ms, known
  from ferry.firing_at($1)
  where account = coalesce($2, account) and ($3::numeric is null or folder_id = $3) and ($4::text is null or team = $4)
    and ${hasWords('name, labels::text')}
  limit $6`

const IN_WORDS: Readonly<Record<AroundRow['kind'], string>> = {
  'rule.added': 'added',
  'rule.changed': 'edited',
  'rule.disabled': 'switched off',
  'rule.enabled': 'switched on',
  'rule.removed': 'removed',
  'rule.returned': 'returned',
  'rule.fired': 'began to fire',
  'rule.cleared': 'stopped firing',
  'server.added': 'MCP server added',
  'server.changed': 'MCP server changed',
  'server.removed': 'MCP server removed',
  'server.returned': 'MCP server returned',
  'tool.added': 'MCP tool added',
  'tool.removed': 'MCP tool removed',
  'tool.changed': 'MCP tool described differently',
  decision: 'decision',
  'import.started': 'import started',
  'import.ended': 'import ended',
  'inventory.first_read': 'read for the first time',
  'removals.held': 'removals held',
  blind: 'nothing was read',
}

/** Whether a rule was firing at the moment, or what is known instead. */
export function firingInWords({ known, firedForMs }: Pick<FiringThen, 'known' | 'firedForMs'>): string {
  if (known) return 'firing'
  return firedForMs === null ? 'not known: first seen firing later' : 'not known: it fired before'
}

/** What happened, as people say it: `switched off while firing`. */
export function kindInWords({ kind, whileFiring }: Pick<AroundRow, 'kind' | 'whileFiring'>): string {
  return `${IN_WORDS[kind]}${whileFiring ? ' while firing' : ''}`
}
