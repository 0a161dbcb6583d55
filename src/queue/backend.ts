import type { Logger } from 'pino'

export type BackendSettings = {
  readonly databaseUrl: string
  /** Null: the queue lives in Postgres. */
  readonly redisUrl: string | null
}

/** Redis cannot be used as it is; the message says what to set. */
export class QueueRefused extends Error {
  override readonly name = 'QueueRefused'
}

export type QueueBackend = { readonly kind: 'redis' | 'postgres' }

/** What was found about the queue, in words, for `doctor`. Throws `QueueRefused`. */
export async function checkQueue(_settings: BackendSettings): Promise<string> {
  throw new Error('under construction')
}

/** Brings the queue's own tables up to date, if it lives in Postgres. Safe from any number of processes at once. */
export async function migrateQueue(_settings: BackendSettings): Promise<void> {
  throw new Error('under construction')
}

/** Chooses Redis or Postgres, checks that it will do. Throws `QueueRefused`. */
export async function openBackend(
  _settings: BackendSettings & { readonly installation: string; readonly log: Logger },
): Promise<QueueBackend> {
  throw new Error('under construction')
}

/** Connections to Postgres that a worker's and a command's queue take at most. */
export function connectionBudget(_settings: BackendSettings): {
  readonly worker: number
  readonly command: number
} {
  throw new Error('under construction')
}
