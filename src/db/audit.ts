import type { Pool, PoolClient } from 'pg'
import { z } from 'zod'
import type { Act, ActedBy, Action } from '#src/model/act.ts'
import { and, desc, drizzleOf, eq, gte, lt, sql } from './drizzle.ts'
import { findColumn } from './rows.ts'
import { audit } from './schema.ts'

/** Records what a person did, in the transaction that does it: both are written, or neither. */
export async function recordActs(
  client: PoolClient,
  { actor, because }: ActedBy,
  acts: readonly Act[],
): Promise<void> {
  if (acts.length === 0) return
  await drizzleOf(client)
    .insert(audit)
    .values(
      acts.map(({ account, action, subjectKind, subject, decided }) => {
        const about = { rows: decided?.rows ?? null, of_rows: decided?.of ?? null }
        return { account, actor, action, subject_kind: subjectKind, subject_id: subject, because, ...about }
      }),
    )
}

/** Which acts are wanted; what is left out does not narrow them. */
export type ActFilter = {
  readonly account?: string | undefined
  /** A part of the name, whatever its case. */
  readonly actor?: string | undefined
  readonly action?: Action | undefined
  readonly since?: Date | undefined
  readonly until?: Date | undefined
  /** Only acts with a lower number: those that come after it in the list. */
  readonly before?: bigint | undefined
}

export type ActRow = Awaited<ReturnType<typeof listActs>>[number]

const LATELY = 1_000

/** Who did something lately, by name. */
export function suggestActors(pool: Pool): Promise<string[]> {
  return findColumn(
    pool,
    z.string(),
    `select distinct actor from (select actor from ferry.audit order by id desc limit ${LATELY}) a order by actor limit 200`,
  )
}

/** The newest acts first. */
export function listActs(pool: Pool, limit: number, filter: ActFilter = {}) {
  const { account, actor, action, since, until, before } = filter
  return drizzleOf(pool)
    .select({
      act: audit.id,
      at: audit.at,
      account: audit.account,
      actor: audit.actor,
      action: audit.action,
      subjectKind: audit.subject_kind,
      subject: audit.subject_id,
      because: audit.because,
      rows: audit.rows,
      ofRows: audit.of_rows,
    })
    .from(audit)
    .where(
      and(
        account === undefined ? undefined : eq(audit.account, account),
        actor === undefined ? undefined : sql`strpos(lower(${audit.actor}), lower(${actor})) > 0`,
        action === undefined ? undefined : eq(audit.action, action),
        since === undefined ? undefined : gte(audit.at, since),
        until === undefined ? undefined : lt(audit.at, until),
        before === undefined ? undefined : lt(audit.id, before),
      ),
    )
    .orderBy(desc(audit.id))
    .limit(limit)
}
