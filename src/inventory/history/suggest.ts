import type { Pool } from 'pg'
import { z } from 'zod'
import { findColumn } from '#src/db/rows.ts'

/*
 * What the fields of filters offer. Each list costs milliseconds, however long the history is.
 */

const MAX_OFFERED = 200

/** The folders of the current rules. */
export function suggestFolders(pool: Pool): Promise<string[]> {
  return findColumn(
    pool,
    z.string(),
    `select distinct folder_id from ferry.alert_rule_versions where valid_to is null order by folder_id limit $1`,
    [MAX_OFFERED],
  )
}

/** Names are offered up to this length: a longer one is no name. */
const MAX_NAME = 200
const LATELY = 5_000

/** The people who edited rules lately, those with the most edits first. */
export function suggestEditors(pool: Pool): Promise<string[]> {
  return findColumn(
    pool,
    z.string(),
    `select v.updater_name from (
       select updater_name from ferry.alert_rule_versions where appeared is null order by valid_from desc limit ${LATELY}
     ) v
     where length(v.updater_name) <= ${MAX_NAME} and trim(v.updater_name) <> ''
     group by v.updater_name order by count(*) desc, v.updater_name limit $1`,
    [MAX_OFFERED],
  )
}

/** The teams of the current rules, by their labels. */
export function suggestTeams(pool: Pool): Promise<string[]> {
  return findColumn(
    pool,
    z.string(),
    `select distinct team from ferry.alert_rule_versions where valid_to is null and trim(team) <> '' order by team limit $1`,
    [MAX_OFFERED],
  )
}

/** The teams that own current MCP servers. */
export function suggestServerTeams(pool: Pool): Promise<string[]> {
  return findColumn(
    pool,
    z.string(),
    `select distinct team_id from ferry.mcp_servers where team_id is not null order by team_id limit $1`,
    [MAX_OFFERED],
  )
}
