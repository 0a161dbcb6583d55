import { DAY_MS } from './duration.ts'

/** How a database differs from the one that Ferry knew. */
export const DATABASE_CAUSES = ['server', 'timeline', 'database', 'copy', 'calls'] as const
export type DatabaseCause = (typeof DATABASE_CAUSES)[number]

/** A database that is not the one that Ferry knew, as it was noticed. */
export type DatabaseChange = {
  readonly noticedAt: Date
  /** Rows that were written since may be missing; null if nothing is known of it. */
  readonly missingSince: Date | null
  readonly cause: DatabaseCause
}

const WAYS: Readonly<Record<DatabaseCause, string>> = {
  server: 'it is on another server than before',
  timeline: 'its server was promoted or restored',
  database: 'it is another database of the same server',
  copy: 'it is a copy of the database, as from a dump',
  calls: 'calls that were recorded are missing from it',
}

/** Says what changed, and what may be missing, in two sentences. */
export function changeInWords({ cause, missingSince }: Omit<DatabaseChange, 'noticedAt'>): string {
  const since = missingSince === null ? '' : ` since ${missingSince.toISOString()}`
  return `This is not the database that Ferry knew: ${WAYS[cause]}. Rows that were written${since} may be missing.`
}

const NEWS_FOR_MS = 7 * DAY_MS

/** Whether people are still told of a change, by doctor and in the console. */
export function isNews({ noticedAt }: Pick<DatabaseChange, 'noticedAt'>): boolean {
  return Date.now() - noticedAt.getTime() < NEWS_FOR_MS
}
