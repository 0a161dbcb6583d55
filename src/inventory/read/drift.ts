import type { PoolClient } from 'pg'
import type { Logger } from 'pino'
import { z } from 'zod'
import { raiseEvent } from '#src/db/outbox.ts'
import { findAll } from '#src/db/rows.ts'
import type { RunStep } from '#src/inventory/runs/ledger.ts'
import type { Drift } from '#src/model/listing.ts'

const NewField = z.object({ field: z.string(), type: z.string() })

/**
 * Records the names and types of fields outside the contract. Warns of those that are seen for the first time, and tells how
 * many they are: their names are words of the platform.
 */
export async function reportDrift(
  log: Logger,
  client: PoolClient,
  step: RunStep,
  drift: readonly Drift[],
): Promise<void> {
  if (drift.length === 0) return
  const rows = await findAll(
    client,
    NewField,
    `insert into ferry.contract_drift (account, resource, field, type, first_run)
     select $1, $2, field, type, $3 from unnest($4::text[], $5::text[]) as d (field, type)
     on conflict do nothing returning field, type`,
    [
      step.account,
      step.resource,
      step.runId,
      drift.map(found => found.field),
      drift.map(found => found.type),
    ],
  )
  if (rows.length > 0) {
    const { account, resource, runId } = step
    await raiseEvent(
      client,
      { kind: 'drift.found', account, subject: resource },
      { inventory: resource, run: `${runId}`, fields: rows.length },
    )
  }
  for (const found of rows) {
    log.warn(
      { ...step, ...found },
      'The platform sends a field outside the contract; Ferry does not store it.',
    )
  }
}
