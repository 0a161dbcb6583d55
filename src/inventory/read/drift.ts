import type { PoolClient } from 'pg'
import type { Logger } from 'pino'
import { z } from 'zod'
import { raiseEvent } from '#src/db/outbox.ts'
import { findAll } from '#src/db/rows.ts'
import type { FoundValue } from '#src/inventory/publish/opened.ts'
import type { RunStep } from '#src/inventory/runs/ledger.ts'
import type { Drift } from '#src/model/listing.ts'

/*
 * What the platform sends that its contract does not name: fields, and values of fields whose values it names in part (an
 * open set, such as `transport`). Each is told once for an account. An event has their numbers alone: their names are words
 * of the platform.
 */

const NewField = z.object({ field: z.string(), type: z.string() })

/** A value never seen before in a field of the account. */
const NewValue = z.object({ field: z.string(), value: z.string(), isNews: z.boolean() })
type NewValue = z.infer<typeof NewValue>

/** Records what a run saw for the first time, warns of it, and raises an event. `values` are those of open sets in the versions that it opened. */
export async function reportDrift(
  log: Logger,
  client: PoolClient,
  step: RunStep,
  { drift, values: found }: { readonly drift: readonly Drift[]; readonly values: readonly FoundValue[] },
): Promise<void> {
  const fields = drift.length === 0 ? [] : await saveFields(client, step, drift)
  const values =
    found.length === 0 ? [] : (await saveValues(client, step, found)).filter(({ isNews }) => isNews)
  const { account, resource, runId } = step
  if (fields.length + values.length > 0) {
    const data = { inventory: resource, run: `${runId}`, fields: fields.length, values: values.length }
    await raiseEvent(client, { kind: 'drift.found', account, subject: resource }, data)
  }
  for (const found of fields) {
    log.warn(
      { ...step, ...found },
      'The platform sends a field outside the contract; Ferry does not store it.',
    )
  }
  for (const { field, value } of values) {
    log.warn({ ...step, field, value }, 'The platform sends a value that this field has never had.')
  }
}

function saveFields(client: PoolClient, { account, resource, runId }: RunStep, drift: readonly Drift[]) {
  return findAll(
    client,
    NewField,
    `insert into ferry.contract_drift (account, resource, field, type, first_run)
     select $1, $2, field, type, $3 from unnest($4::text[], $5::text[]) as d (field, type)
     on conflict do nothing returning field, type`,
    [account, resource, runId, drift.map(found => found.field), drift.map(found => found.type)],
  )
}

/** So many values of a field are noted, with so much of each: invented ones must not fill the table. */
const MAX_VALUES = 100
const MAX_VALUE = 200

/**
 * Notes the values of open sets in the versions that this run opened. A value is news unless only rows of a first reading
 * have it: then nobody knows since when.
 */
function saveValues(
  client: PoolClient,
  { account, resource, runId }: RunStep,
  values: readonly FoundValue[],
): Promise<NewValue[]> {
  return findAll(
    client,
    NewValue,
    `with found as (
       select f.field, left(f.value, ${MAX_VALUE}) as value, bool_or(f.is_news) as is_news
       from unnest($4::text[], $5::text[], $6::boolean[]) f (field, value, is_news)
       group by 1, 2
     ), unseen as (
       select f.*, row_number() over (partition by f.field order by f.value) as nth from found f
       where not exists (
         select from ferry.seen_values s
         where s.account = $1 and s.resource = $2 and s.field = f.field and s.value = f.value)
     )
     insert into ferry.seen_values (account, resource, field, value, first_run, is_news)
     select $1, $2, u.field, u.value, $3, u.is_news from unseen u
     where u.nth + (
       select count(*) from ferry.seen_values s where s.account = $1 and s.resource = $2 and s.field = u.field
     ) <= ${MAX_VALUES}
     returning field, value, is_news`,
    [
      account,
      resource,
      runId,
      values.map(({ field }) => field),
      values.map(({ value }) => value),
      values.map(({ isNews }) => isNews),
    ],
  )
}
