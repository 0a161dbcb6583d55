import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from 'pg'
import type { Logger } from 'pino'
import { reasonOf } from '#src/model/reason.ts'
import { connect, LEAVING, PRESENT } from './connection.ts'
import { withDirectoryLock } from './lock.ts'
import type { Placement } from './placement.ts'
import { findPostmaster, stopServer } from './server.ts'

const CLOSE_WITHIN_MS = 15_000
const LOCK_WITHIN_MS = 5_000
const TELL_WITHIN_MS = 1_000
const STOP_WITHIN_MS = 8_000
/** A backend outlives its client's goodbye by some milliseconds: our own pools may have closed just now. */
const LOOK_AGAIN_FOR_MS = 500
const LOOK_EVERY_MS = 50

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
    await Promise.race([leave(opened), deadline])
  } catch (error) {
    opened.log.warn(
      { error: reasonOf(error) },
      'the embedded Postgres was left as it is; the next to use it will find it',
    )
  } finally {
    done.abort()
    deadline.catch(() => {})
  }
}

async function leave({ dataDir, placement, password, presence, log }: Opened): Promise<void> {
  // Said first, for whoever leaves next may still see it linger. A server that is gone or suspended need not know.
  const told = presence.query(`set application_name = '${LEAVING}'`)
  await Promise.race([told, delay(TELL_WITHIN_MS, undefined, { ref: false })]).catch(() => {})
  void presence.end()
  const giveUpAt = performance.now() + LOOK_AGAIN_FOR_MS
  const stopUnlessUsed = async (): Promise<Users> => {
    const server = await findPostmaster(placement.home)
    if (server?.status !== 'ready') return { ferries: 0, others: 0 }
    const client = await connect(LEAVING, { password, port: server.port, log })
    const users = await countUsers(client).finally(() => client.end())
    if (users.ferries + users.others > 0) return users
    if (await stopServer(placement, STOP_WITHIN_MS)) log.info('the embedded Postgres was stopped')
    else log.warn('the embedded Postgres was told to stop, and takes its time')
    return users
  }
  for (;;) {
    const users = await withDirectoryLock(dataDir, LOCK_WITHIN_MS, stopUnlessUsed)
    if (users.ferries + users.others === 0) return
    if (users.ferries > 0 || performance.now() > giveUpAt) {
      return log.info(users, 'the embedded Postgres is still used by others: it runs on')
    }
    await delay(LOOK_EVERY_MS)
  }
}

/** How many Ferries are here to stay, and how many connections there are besides, of Ferry or not. */
type Users = { readonly ferries: number; readonly others: number }

async function countUsers(client: Client): Promise<Users> {
  const { rows } = await client.query<Users>(
    `select count(*) filter (where application_name = $1)::int as ferries,
            count(*) filter (where application_name <> $1)::int as others
       from pg_stat_activity
      where backend_type = 'client backend' and application_name <> $2`,
    [PRESENT, LEAVING],
  )
  return rows[0] ?? { ferries: 0, others: 0 }
}
