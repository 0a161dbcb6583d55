import type { Pool } from 'pg'
import { z } from 'zod'
import { findColumn } from '#src/db/rows.ts'
import { didYouMean } from '#src/model/did-you-mean.ts'
import type { Resource } from '#src/model/resource.ts'

/** What people narrow a list by and may misspell. */
type KnownWords = 'names' | 'folders' | 'teams' | 'labels' | 'editors'

/** So many current rows are looked at: enough for a hint, and few enough to be quick. */
const MAX_ROWS = 20_000

/** What a list was narrowed by, of what may be misspelled. */
type Misspelled = {
  readonly name?: string | undefined
  readonly words?: string | undefined
  readonly by?: string | undefined
  readonly folder?: bigint | undefined
  readonly team?: string | bigint | undefined
  readonly label?: Readonly<Record<string, string>> | undefined
}

/** Returns what may have been meant where nothing was found: `nothing matches "check-out"; did you mean checkout?`. */
export async function suggest(
  pool: Pool,
  resource: Resource,
  { name, words, by, folder, team, label = {} }: Misspelled,
): Promise<string[]> {
  const suggested: string[] = []
  const look = async (what: KnownWords, texts: readonly string[], isPart: boolean) => {
    if (texts.length === 0) return
    const known = await listKnownWords(pool, resource, what)
    const matches = (word: string, text: string) =>
      isPart ? word.toLowerCase().includes(text.toLowerCase()) : word === text
    for (const text of texts.filter(one => !known.some(word => matches(word, one)))) {
      const hint = didYouMean(text, known)
      if (hint !== null) suggested.push(`nothing matches ${JSON.stringify(text)}; ${hint}`)
    }
  }
  const given = (value: string | bigint | undefined) => (value === undefined ? [] : [`${value}`])
  await look('names', [...given(name), ...(words ?? '').split(/\s+/).filter(word => word !== '')], true)
  await look('editors', given(by), true)
  await look('folders', given(folder), false)
  await look('teams', given(team), false)
  const labels = Object.entries(label).map(([key, value]) => `${key}=${value}`)
  await look('labels', labels, false)
  return suggested
}

/**
 * Returns what current rows have of it, each once: the words of names, numbers of folders, teams, labels written `key=value`, or
 * the names of the last editors and their parts. Servers have names and teams.
 */
async function listKnownWords(pool: Pool, resource: Resource, what: KnownWords): Promise<string[]> {
  const query = resource === 'alert-rules' ? OF_RULES[what] : OF_SERVERS[what]
  return query === undefined ? [] : findColumn(pool, z.string(), query, [MAX_ROWS])
}

function wordsIn(column: string, view: string): string {
  return `select distinct w.word from (select ${column} as name from ferry.${view} where ${column} <> '' limit $1) r
    cross join lateral regexp_split_to_table(lower(left(r.name, 200)), '[^[:alnum:]]+') w (word)
    where length(w.word) > 2`
}

const valuesOf = (column: string, view: string) =>
  `select distinct word from (select ${column}::text as word from ferry.${view} limit $1) r where word <> ''`

const OF_SERVERS: Partial<Record<KnownWords, string>> = {
  names: wordsIn('server_name', 'mcp_servers'),
  teams: valuesOf('team_id', 'mcp_servers'),
}

const OF_RULES: Record<KnownWords, string> = {
  names: wordsIn('name', 'alert_rules'),
  folders: valuesOf('folder_id', 'alert_rules'),
  teams: valuesOf('team', 'alert_rule_versions where valid_to is null'),
  labels: `select distinct l.key || '=' || l.value from (select labels from ferry.alert_rules limit $1) r
    cross join lateral jsonb_each_text(r.labels) l`,
  editors: `select distinct p.part from (select updater_name as name from ferry.alert_rules limit $1) r
    cross join lateral unnest(r.name || string_to_array(r.name, ' ')) p (part) where p.part <> ''`,
}
