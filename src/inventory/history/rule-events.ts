import type { PoolClient } from 'pg'
import { z } from 'zod'
import { raiseEvent } from '#src/db/outbox.ts'
import { findAll, findMaybe } from '#src/db/rows.ts'
import { wordsInSql } from '#src/db/words-in-sql.ts'
import type { RunStep } from '#src/inventory/runs/ledger.ts'
import { ALERT_RULE } from '#src/model/alert-rule.ts'
import { EDIT_FIELDS } from '#src/model/declarations.ts'
import { type EventFilter, RULE_EVENTS } from '#src/model/event.ts'
import { definitionOf } from '#src/model/fields.ts'

/*
 * What people did to alert rules, as one run found it: one event for each kind, however many rules there are. A receiver is told
 * of those that its filter chooses. They are counted when it is decided what it is told, in the versions of the run: no event
 * holds more than the first ids.
 */

/** How many rules and people a message names. */
const MAX_NAMED = 20
/** Of a longer name, the beginning is enough. */
const MAX_NAME = 200

const Summary = z.object({
  kind: z.enum(RULE_EVENTS),
  rules: z.number(),
  ids: z.array(z.string()),
  names: z.array(z.string()),
  people: z.number(),
  /** How many of the rules were done by somebody who is known. */
  byPeople: z.number(),
  peopleIds: z.array(z.string()),
  peopleNames: z.array(z.string()),
  fields: z.array(z.string()),
  outsideBasicView: z.number(),
})

const Counted = Summary.pick({ kind: true, rules: true, ids: true })

/** Raises an event for each kind of thing that a run found, in its transaction. What a first reading found is none. */
export async function tellOfRules(client: PoolClient, step: RunStep): Promise<void> {
  const { account, resource, runId, at } = step
  for (const { kind, rules, ids } of await findAll(client, Counted, COUNT, [account, runId, at, MAX_NAMED])) {
    const data = { inventory: resource, run: `${runId}`, rules, ruleIds: ids }
    await raiseEvent(client, { kind, account, subject: resource }, data)
  }
}

/** Counts what a run found, by kind: the rules that `filter` chooses. Empty if the run is not known, or applied nothing. */
export async function summarizeRules(
  client: PoolClient,
  { account, run }: { readonly account: string; readonly run: string },
  filter: EventFilter,
): Promise<z.infer<typeof Summary>[]> {
  // As text: a JavaScript Date has no microseconds.
  const applied = await findMaybe(
    client,
    Applied,
    `select applied_at::text as at from ferry.sync_runs
     where id = $1 and account = $2 and applied_at is not null`,
    [run, account],
  )
  if (!applied) return []
  const { folders, teams, labels, fields, people } = filter
  return findAll(client, Summary, SUMMARY, [
    account,
    run,
    applied.at,
    folders,
    teams,
    labels && JSON.stringify(labels),
    fields,
    people,
    MAX_NAMED,
  ])
}

const Applied = z.object({ at: z.string() })

/** What was done to a rule, by the version that a run opened and the one that it closed. */
const KIND = `case when n.id is null then 'rule.removed' when o.id is null then 'rule.added'
  when o.enabled and not n.enabled then 'rule.disabled' else 'rule.changed' end`

/** A full join is never made by looking at all versions of the run for each of them. */
const COUNT = `
  with opened as materialized (
    select id, enabled from ferry.alert_rule_versions
    where valid_from = $3 and account = $1 and opened_by_run = $2 and appeared is distinct from 'first reading'
  ), closed as materialized (
    select id, enabled from ferry.alert_rule_versions where valid_to = $3 and account = $1 and closed_by_run = $2
  ), found as (
    select ${KIND} as kind, coalesce(n.id, o.id) as id from opened n full join closed o on o.id = n.id
  )
  select kind, count(*)::int as rules, (array_agg(id::text order by id))[:$4] as ids
  from found group by kind order by kind`

/** Whether a version is in one of the folders, of one of the teams, and has the labels. */
const isChosen = (version: string) => `
  (${version}.id is not null and ($4::numeric[] is null or ${version}.folder_id = any ($4))
   and ($5::text[] is null or ${version}.team = any ($5))
   and ($6::jsonb is null or not exists (
     select from jsonb_each($6) w where not coalesce(w.value ? (${version}.labels ->> w.key), false))))`

const DIFFERING = definitionOf(ALERT_RULE.fields)
  .map(field => `case when o.${field} is distinct from n.${field} then '${field}' end`)
  .join(', ')

const EDIT = `array[${wordsInSql(EDIT_FIELDS)}]`

/**
 * The versions that the run opened, each with the one that it closed, and those that it closed for good. Each is looked up by the
 * key: by the instant, a plan could look at all versions of the run for each of them.
 */
const SUMMARY = `
  with found as materialized (
    select n.id, n.name, case when n.appeared is null then n.updater_id end as person, n.updater_name as person_name,
      ${KIND} as kind,
      case when o.id is not null then array_remove(array[${DIFFERING}], null) end as fields
    from ferry.alert_rule_versions n
    left join lateral (
      select * from (
        select * from ferry.alert_rule_versions p
        where p.id = n.id and p.account = n.account and p.valid_from < n.valid_from order by p.valid_from desc limit 1
      ) p where p.valid_to = $3
    ) o on true
    where n.valid_from = $3 and n.account = $1 and n.opened_by_run = $2
      and n.appeared is distinct from 'first reading' and (${isChosen('n')} or ${isChosen('o')})
    union all
    select o.id, o.name, null, null, 'rule.removed', null
    from ferry.alert_rule_versions o
    where o.valid_to = $3 and o.account = $1 and o.closed_by_run = $2 and ${isChosen('o')} and not exists (
      select from (
        select valid_from from ferry.alert_rule_versions n
        where n.id = o.id and n.account = o.account and n.valid_from > o.valid_from order by n.valid_from limit 1
      ) n where n.valid_from = $3)
  ), chosen as materialized (
    select f.*, row_number() over (partition by f.kind order by f.id) as nth from found f
    where (f.kind <> 'rule.changed' or $7::text[] is null or f.fields && $7)
      and ($8::text[] is null or f.person::text = any ($8) or f.person is not null and f.person_name = any ($8))
  ), persons as materialized (
    select c.kind, c.person, min(c.person_name) as name, row_number() over (partition by c.kind order by c.person) as nth
    from chosen c where c.person is not null group by c.kind, c.person
  ), altered as materialized (
    select c.kind, array_agg(distinct f.field order by f.field) as fields
    from chosen c cross join lateral unnest(c.fields) f (field)
    where c.kind = 'rule.changed' and f.field <> all (${EDIT}) group by c.kind
  )
  select c.kind, count(*)::int as rules,
    array_agg(c.id::text order by c.nth) filter (where c.nth <= $9) as ids,
    array_agg(left(c.name, ${MAX_NAME}) order by c.nth) filter (where c.nth <= $9) as names,
    (select count(*)::int from persons p where p.kind = c.kind) as people, count(c.person)::int as by_people,
    array(select p.person::text from persons p where p.kind = c.kind and p.nth <= $9 order by p.nth) as people_ids,
    array(select left(p.name, ${MAX_NAME}) from persons p where p.kind = c.kind and p.nth <= $9 order by p.nth) as people_names,
    coalesce((select a.fields from altered a where a.kind = c.kind), '{}') as fields,
    count(*) filter (where c.kind = 'rule.changed' and c.fields <@ ${EDIT})::int as outside_basic_view
  from chosen c group by c.kind order by c.kind`
