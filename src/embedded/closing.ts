import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from 'pg'
import type { Logger } from 'pino'
import { connect } from './connection.ts'
import { withDirectoryLock } from './lock.ts'
import type { Placement } from './placement.ts'
import { findPostmaster, stopServer } from './server.ts'

const CLOSE_WITHIN_MS = 15_000
const LOCK_WITHIN_MS = 5_000
const STOP_WITHIN_MS = 8_000
/** A backend outlives its client's goodbye by some milliseconds. */
const OTHERS_LEAVE_WITHIN_MS = 500

/** What is needed to leave a Postgres that was opened. */
export type Opened = {
  readonly dataDir: string
  readonly placement: Placement
  readonly password: string
  /** The connection kept open all the time. */
  readonly presence: Client
  readonly log: Logger
}

/** Leaves, as the last one by stopping the server. Never throws and never takes longer than 15 s. */
export async function closeEmbeddedPostgres(opened: Opened): Promise<void> {
  const done = new AbortController()
  const deadline = delay(CLOSE_WITHIN_MS, undefined, { signal: done.signal }).then(() => {
    throw new Error(`not done within ${CLOSE_WITHIN_MS / 1000} s`)
  })
  try {
    await Promise.race([withDirectoryLock(opened.dataDir, LOCK_WITHIN_MS, () => leave(opened)), deadline])
  } catch (error) {
    opened.log.warn(
      { err: error },
      'the embedded Postgres was left as it is; the next to use it will find it',
    )
  } finally {
    done.abort()
    deadline.catch(() => {})
  }
}

async function leave({ placement, password, presence, log }: Opened): Promise<void> {
  // A connection of today: the one kept may have been lost with a server that was started again since.
  await presence.end()
  const server = await findPostmaster(placement.home)
  if (server?.status !== 'ready') return
  const client = await connect(password, server.port, log)
  const others = await countOthers(client).finally(() => client.end())
  if (others > 0) {
    log.info({ others }, 'others still use the embedded Postgres: it runs on')
  } else if (await stopServer(placement, STOP_WITHIN_MS)) {
    log.info('the embedded Postgres was stopped')
  } else {
    log.warn('the embedded Postgres was told to stop, and takes its time')
  }
}

/** How many others are connected, Ferry or not, after those just leaving have left. */
async function countOthers(client: Client): Promise<number> {
  const giveUpAt = performance.now() + OTHERS_LEAVE_WITHIN_MS
  for (;;) {
    const { rows } = await client.query<{ others: number }>(
      `select count(*)::int as others from pg_stat_activity
        where backend_type = 'client backend' and pid <> pg_backend_pid()`,
    )
    const others = rows[0]?.others ?? 0
    if (others === 0 || performance.now() > giveUpAt) return others
    await delay(50)
  }
}
