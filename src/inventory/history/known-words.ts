import type { Pool } from 'pg'
import { z } from 'zod'
import { findColumn, findValue } from '#src/db/rows.ts'
import { nearestOf } from '#src/model/did-you-mean.ts'
import type { Resource } from '#src/model/resource.ts'
import type { InventoryFilter } from './list-inventory.ts'
import { wordsIn } from './list-order.ts'
import { loadRulePage } from './rule-page.ts'
import { loadServerPage } from './server-page.ts'

/** What people narrow a list by and may misspell. */
type KnownWords = 'names' | 'folders' | 'teams' | 'labels' | 'editors'

/** So many current rows are looked at, always the same: enough for a hint, and few enough to be quick. */
const MAX_ROWS = 20_000

/** What a list was narrowed by, of what may be misspelled. */
type Misspelled = Pick<InventoryFilter, 'asOf' | 'name' | 'words' | 'folder' | 'team' | 'label'> & {
  readonly by?: string | undefined
}

/** A text by which nothing is found, what is true of it, and what may have been meant. */
export type Suggestion = {
  readonly truth: 'nothing matches' | 'no rule was last edited by'
  readonly asked: string
  readonly meant: string
}

/** Looking for what is near takes time. */
const MAX_MISSPELLED = 3
/** Each word is looked for alone. */
const MAX_WORDS = 8

/** Returns what may have been meant where nothing was found. What is found alone is not misspelled. */
export async function suggest(
  pool: Pool,
  resource: Resource,
  { asOf, name, words, by, folder, team, label = {} }: Misspelled,
): Promise<Suggestion[]> {
  const asked: Asked[] = []
  if (name !== undefined) asked.push({ what: 'names', text: name, alone: { name } })
  const each = new Map(wordsIn(words).map(one => [one.toLowerCase(), one])).values()
  for (const word of each.take(MAX_WORDS)) {
    asked.push({ what: 'names', text: word, alone: { words: word } })
  }
  if (by !== undefined) asked.push({ what: 'editors', text: by, alone: null })
  if (folder !== undefined) asked.push({ what: 'folders', text: `${folder}`, alone: { folder } })
  if (team !== undefined) asked.push({ what: 'teams', text: `${team}`, alone: { team } })
  for (const [key, value] of Object.entries(label)) {
    asked.push({ what: 'labels', text: `${key}=${value}`, alone: { label: { [key]: value } } })
  }
  const suggestions: Suggestion[] = []
  const known: Partial<Record<KnownWords, readonly string[]>> = {}
  let misspelled = 0
  for (const { what, text, alone } of asked) {
    if (misspelled === MAX_MISSPELLED) break
    if (await (alone === null ? isEditor(pool, text) : isFound(pool, resource, { ...alone, asOf }))) continue
    misspelled += 1
    known[what] ??= await listKnownWords(pool, resource, what)
    const meant = nearestOf(text, known[what])
    const truth = alone === null ? 'no rule was last edited by' : 'nothing matches'
    if (meant !== null && meant !== text) suggestions.push({ truth, asked: text, meant })
  }
  return suggestions
}

/** A text that a list was narrowed by, and the filter that has it alone; null for a person. */
type Asked = { readonly what: KnownWords; readonly text: string; readonly alone: InventoryFilter | null }

async function isFound(pool: Pool, resource: Resource, filter: InventoryFilter): Promise<boolean> {
  const load = resource === 'alert-rules' ? loadRulePage : loadServerPage
  return (await load(pool, filter, null, 1)).rows.length > 0
}

function isEditor(pool: Pool, part: string): Promise<boolean> {
  return findValue(
    pool,
    z.boolean(),
    `select exists (select from ferry.alert_rule_versions
       where valid_to is null and strpos(lower(updater_name), lower($1)) > 0)`,
    [part],
  )
}

/**
 * Returns what current rows have of it, each once: the words of names, numbers of folders, teams, labels written `key=value`, or
 * the names of the last editors and their parts. Servers have names and teams.
 */
async function listKnownWords(pool: Pool, resource: Resource, what: KnownWords): Promise<string[]> {
  const query = resource === 'alert-rules' ? OF_RULES[what] : OF_SERVERS[what]
  return query === undefined ? [] : findColumn(pool, z.string(), query, [MAX_ROWS])
}

function namesIn(column: string, rows: string): string {
  return `select distinct w.word from (select ${column} as name from ${rows} limit $1) r
    cross join lateral regexp_split_to_table(lower(left(r.name, 200)), '[^[:alnum:]]+') w (word)
    where length(w.word) > 2`
}

const valuesOf = (column: string, rows: string) =>
  `select distinct word from (select ${column}::text as word from ${rows} limit $1) r where word <> ''`

const SERVERS = 'ferry.mcp_server_versions where valid_to is null order by server_id, account'
const RULES = 'ferry.alert_rule_versions where valid_to is null order by id, account'

const OF_SERVERS: Partial<Record<KnownWords, string>> = {
  names: namesIn('server_name', SERVERS),
  teams: valuesOf('team_id', SERVERS),
}

const OF_RULES: Record<KnownWords, string> = {
  names: namesIn('name', RULES),
  folders: valuesOf('folder_id', RULES),
  teams: valuesOf('team', RULES),
  labels: `select distinct l.key || '=' || l.value from (select labels from ${RULES} limit $1) r
    cross join lateral jsonb_each_text(r.labels) l`,
  editors: `select distinct p.part from (select updater_name as name from ${RULES} limit $1) r
    cross join lateral unnest(r.name || string_to_array(r.name, ' ')) p (part) where p.part <> ''`,
}
