import type { SchemaFit } from '#src/db/migrate.ts'

/** Whether a worker can work. Each part is `ok`, or says what is wrong. What is unknown, because Postgres did not answer, is null. */
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
}

export type Waiting = Readonly<Record<string, number | null>>

/** Puts into words what Postgres (null: no answer) and the queue (a null in it: no answer) said. */
export function readinessOf(schema: SchemaFit | null, waiting: Waiting | null): Readiness {
  const queueAnswers = waiting !== null && !Object.values(waiting).includes(null)
  return {
    ready: schema === 'known' && queueAnswers,
    postgres: schema === null ? noAnswer('Postgres') : 'ok',
    schema: schema === null ? null : SCHEMA_WORDS[schema],
    queue: queueAnswers ? 'ok' : noAnswer('The queue'),
  }
}

function noAnswer(who: string): string {
  return `${who} did not answer within ${ANSWER_WITHIN_MS / 1_000} s.`
}
