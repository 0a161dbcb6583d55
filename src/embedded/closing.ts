import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from 'pg'
import type { Logger } from 'pino'
import { z } from 'zod'
import { findOne } from '#src/db/rows.ts'
import { reasonOf } from '#src/model/reason.ts'
import { within } from '#src/model/within.ts'
import { SUPERUSER } from './cluster.ts'
import { connect, LEAVING, PRESENT } from './connection.ts'
import { withDirectoryLock } from './lock.ts'
import type { Placement } from './placement.ts'
import type { Presence } from './presence.ts'
import { findPostmaster, stopServer } from './server.ts'

const CLOSE_WITHIN_MS = 15_000
const LOCK_WITHIN_MS = 5_000
export const STOP_WITHIN_MS = 8_000
/** The server keeps a closed connection for some milliseconds, and this process may have closed its pool just now. */
const LOOK_AGAIN_FOR_MS = 500
const LOOK_EVERY_MS = 50

/** An open embedded Postgres, as far as closing needs it. */
export type Opened = {
  readonly dataDir: string
  readonly placement: Placement
  /** Of the superuser, who sees all connections. */
  readonly password: string
  readonly presence: Presence
  readonly log: Logger
}

/** Disconnects, and stops the server if nobody else uses it. Never throws. Takes 15 s at most. */
export async function closeEmbeddedPostgres(opened: Opened): Promise<void> {
  try {
    await within(
      CLOSE_WITHIN_MS,
      leave(opened),
      () => new Error(`not done within ${CLOSE_WITHIN_MS / 1000} s`),
    )
  } catch (error) {
    opened.log.warn(
      { error: reasonOf(error) },
      'The embedded Postgres could not be closed and may still run. The next Ferry that uses it will find it.',
    )
  }
}

async function leave({ dataDir, placement, password, presence, log }: Opened): Promise<void> {
  await presence.leave()
  const giveUpAt = performance.now() + LOOK_AGAIN_FOR_MS
  const stopUnlessUsed = async (): Promise<Users> => {
    const server = await findPostmaster(placement.home)
    if (server?.status !== 'ready') return { ferries: 0, others: 0 }
    const client = await connect(LEAVING, { user: SUPERUSER, password, port: server.port }, log)
    const users = await countUsers(client).finally(() => client.end())
    if (users.ferries + users.others > 0) return users
    if (await stopServer(placement, STOP_WITHIN_MS)) log.info('The embedded Postgres was stopped.')
    else log.warn('The embedded Postgres is still stopping.')
    return users
  }
  for (;;) {
    const users = await withDirectoryLock(dataDir, { retryForMs: LOCK_WITHIN_MS, log }, stopUnlessUsed)
    if (users.ferries + users.others === 0) return
    if (users.ferries > 0 || performance.now() > giveUpAt) {
      return log.info(users, 'Others still use the embedded Postgres. It keeps running.')
    }
    await delay(LOOK_EVERY_MS)
  }
}

/** How many Ferry processes use the server, and how many other connections it has, of Ferry or not. */
const Users = z.object({ ferries: z.number(), others: z.number() })
type Users = Readonly<z.infer<typeof Users>>

function countUsers(client: Client): Promise<Users> {
  return findOne(
    client,
    Users,
    `select count(*) filter (where application_name = $1)::int as ferries,
            count(*) filter (where application_name <> $1)::int as others
       from pg_stat_activity
      where backend_type = 'client backend' and application_name <> $2`,
    [PRESENT, LEAVING],
  )
}
