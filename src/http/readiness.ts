import { DatabaseError } from 'pg'
import { PostgresUnavailable } from '#src/db/outage.ts'
import type { SchemaFit } from '#src/db/schema-state.ts'

/** Whether a worker can work. Each part is `ok`, or says what is wrong; null if unknown because Postgres did not answer. */
export type Readiness = {
  readonly ready: boolean
  readonly postgres: string
  readonly schema: string | null
  readonly queue: string
}

/** How long Postgres and the queue may take to answer. */
export const ANSWER_WITHIN_MS = 2_000

const SCHEMA_WORDS: Readonly<Record<SchemaFit, string>> = {
  known: 'ok',
  missing: 'The database has no tables of Ferry.',
  older: 'The database is older than this Ferry. Run `ferry migrate`.',
  newer: 'A newer Ferry migrated the database. Restart this one with that version.',
  unsupported:
    'The schema ferry of the database was not made by this Ferry or an earlier release, and cannot be used.',
}

export type Waiting = Readonly<Record<string, number | null>>

/** Why Postgres cannot be reached or used, in words that name no address. */
export type Unreachable = { readonly why: string }

/** What a failed question says about Postgres. Rethrows the error if it only means that no answer came in time. */
export function unreachable(error: unknown): Unreachable {
  const code =
    error instanceof PostgresUnavailable || error instanceof DatabaseError ? (error.code ?? '') : ''
  if (code === 'ECONNREFUSED') return { why: 'Postgres refused the connection.' }
  if (code === '' || code === 'ETIMEDOUT') throw error
  if (error instanceof DatabaseError) return { why: `Postgres answers with an error (SQLSTATE ${code}).` }
  return { why: 'Postgres cannot be reached. The reason is in the log of this worker.' }
}

/**
 * Puts into words what Postgres (null: no answer in time) and the queue (null: the same; a null in it: no answer) said.
 */
export function readinessOf(schema: SchemaFit | Unreachable | null, waiting: Waiting | null): Readiness {
  const queueAnswers = waiting !== null && !Object.values(waiting).includes(null)
  return {
    ready: schema === 'known' && queueAnswers,
    postgres: typeof schema === 'string' ? 'ok' : (schema?.why ?? noAnswer('Postgres')),
    schema: typeof schema === 'string' ? SCHEMA_WORDS[schema] : null,
    queue: queueAnswers ? 'ok' : waiting === null ? noAnswer('The queue') : 'The queue does not answer.',
  }
}

function noAnswer(who: string): string {
  return `${who} did not answer within ${ANSWER_WITHIN_MS / 1_000} s.`
}
