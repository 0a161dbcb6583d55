import { z } from 'zod'
import { keyInstant } from '#src/db/rows.ts'
import { type Check, check } from '#src/db/verify.ts'
import { VERSIONS, type VersionedTable } from '#src/inventory/versioned-tables.ts'
import { NOUNS, type Resource } from '#src/model/resource.ts'

/*
 * What the versions and the episodes promise: intervals that do not overlap, and ends that a run explains.
 */

/** An interval of a rule or server. Instants are text, exact to the microsecond. */
const INTERVAL = {
  account: z.string(),
  id: z.string(),
  begins: z.string(),
  ends: z.string().nullable(),
}
type Interval = { readonly account: string; readonly id: string; readonly begins: string }

const Neighbours = z.object({ ...INTERVAL, nextBegins: z.string().nullable(), isOrdered: z.boolean() })

const ByRuns = z.object({ ...INTERVAL, openedBy: z.string(), closedBy: z.string().nullable() })

const REPAIR =
  'Compare the row with a backup, and restore what is missing. As the owner of the table, correct the end or the start of the ' +
  'interval so that it is the applied_at of a run; readers of that time get a wrong answer until then.'

function versionChecks<Row>(resource: Resource, table: VersionedTable<Row>): Check[] {
  const noun = NOUNS[resource]
  const version = ({ account, id, begins }: Interval) =>
    `${table.name}: ${noun} ${id} of account ${account}, version of ${begins}`
  return [
    check(Neighbours, {
      name: `${resource} intervals`,
      holds: `versions of one ${noun} do not overlap, at most one is current, and each differs from the one before`,
      broken: brokenIntervals(
        { table: table.name, id: table.idColumn, begins: 'valid_from', ends: 'valid_to' },
        'fingerprint',
      ),
      found: row => `${version(row)} ${wrongInterval(row)}`,
      whatToDo: REPAIR,
    }),
    check(ByRuns, {
      name: `${resource} runs`,
      holds: `a run of the ${noun}'s account was applied when each version began, and when it ended`,
      broken: unexplained(
        { table: table.name, id: table.idColumn, begins: 'valid_from', ends: 'valid_to' },
        'opened_by_run',
        'closed_by_run',
      ),
      values: [resource],
      found: row => `${version(row)} is not explained by ${runsOf(row)}`,
      whatToDo: REPAIR,
    }),
  ]
}

const episode = ({ account, id, begins }: Interval) =>
  `ferry.alert_rule_firings: alert rule ${id} of account ${account}, episode of ${begins}`

const EPISODES = { table: 'ferry.alert_rule_firings', id: 'id', begins: 'began', ends: 'ended' } as const

const Episode = z.object(INTERVAL)

const EPISODE_CHECKS: readonly Check[] = [
  check(Neighbours, {
    name: 'episodes',
    holds: 'episodes of one alert rule do not overlap, and at most one is open',
    broken: brokenIntervals(EPISODES),
    found: row => `${episode(row)} ${wrongInterval(row)}`,
    whatToDo: REPAIR,
  }),
  check(ByRuns, {
    name: 'episodes runs',
    holds: 'a run of the account was applied when each episode began, and when it ended',
    broken: unexplained(EPISODES, 'began_run', 'ended_run'),
    values: ['alert-rules' satisfies Resource],
    found: row => `${episode(row)} is not explained by ${runsOf(row)}`,
    whatToDo: REPAIR,
  }),
  check(Episode, {
    name: 'episodes of rules',
    holds: 'a rule that is firing is a current one: its removal ends the episode',
    broken: `
      select f.account, f.id::text, ${keyInstant('f.began')} as begins, null as ends from ferry.alert_rule_firings f
      where f.ended is null and not exists (
        select from ferry.alert_rule_versions v where v.id = f.id and v.account = f.account and v.valid_to is null)`,
    found: row => `${episode(row)} is open, but the rule has no current version`,
    whatToDo: 'The next complete sync cannot end it. As the owner of the table, set ended and ended_run.',
  }),
]

/** Checks of versions and episodes. What was pruned is missed by none of them. */
export const HISTORY_CHECKS: readonly Check[] = [
  ...versionChecks('alert-rules', VERSIONS['alert-rules']),
  ...versionChecks('mcp-servers', VERSIONS['mcp-servers']),
  ...EPISODE_CHECKS,
]

/** A table of intervals, and its columns. */
type Intervals = {
  readonly table: string
  readonly id: string
  readonly begins: string
  readonly ends: string
}

/** In SQL: intervals that end before they begin, overlap the next one, or, with `content`, have the same as the next one. */
function brokenIntervals({ table, id, begins, ends }: Intervals, content?: string): string {
  const same = content ? `or (v.ends = v.next_begins and v.content = v.next_content)` : ''
  const contents = content ? `, ${content} as content, lead(${content}) over of_one as next_content` : ''
  return `
    select account, id::text, ${keyInstant('v.begins')} as begins, ${keyInstant('v.ends')} as ends,
      ${keyInstant('v.next_begins')} as next_begins,
      coalesce(v.ends > v.begins and (v.ends <= v.next_begins) is not false, v.next_begins is null) as is_ordered
    from (
      select account, ${id} as id, ${begins} as begins, ${ends} as ends, lead(${begins}) over of_one as next_begins ${contents}
      from ${table} window of_one as (partition by ${id}, account order by ${begins})
    ) v
    where v.ends <= v.begins or (v.next_begins is not null and (v.ends is null or v.ends > v.next_begins ${same}))`
}

function wrongInterval({ begins, ends, nextBegins, isOrdered }: z.infer<typeof Neighbours>): string {
  if (isOrdered) return `has the same content as the next one, of ${nextBegins}`
  if (ends === null) return `is current, but a later one began at ${nextBegins}`
  return ends <= begins
    ? `ends at ${ends}, before it begins`
    : `ends at ${ends}, after the next one began (${nextBegins})`
}

/**
 * In SQL: intervals that no run explains. The instant at which one begins or ends is the applied_at of the run that it names,
 * of the same inventory. Such runs are never pruned.
 */
function unexplained({ table, id, begins, ends }: Intervals, opened: string, closed: string): string {
  return `
    select v.account, v.${id}::text as id, ${keyInstant(`v.${begins}`)} as begins, ${keyInstant(`v.${ends}`)} as ends,
      v.${opened}::text as opened_by, v.${closed}::text as closed_by
    from ${table} v
    left join ferry.sync_runs o on o.id = v.${opened} and o.account = v.account and o.resource = $1
    left join ferry.sync_runs c on c.id = v.${closed} and c.account = v.account and c.resource = $1
    where o.applied_at is distinct from v.${begins} or c.applied_at is distinct from v.${ends}`
}

function runsOf({ openedBy, closedBy, ends }: z.infer<typeof ByRuns>): string {
  if (ends === null) return `run ${openedBy}`
  return `run ${openedBy}, which began it, and ${closedBy === null ? 'no run' : `run ${closedBy}`}, which ended it at ${ends}`
}
