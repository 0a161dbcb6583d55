import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from 'pg'
import { filesIn } from './cluster.ts'
import { PostgresNotRunning } from './errors.ts'
import { findPostmaster } from './server.ts'

/** A server that another process starts again within this time has not ended. */
const GONE_AFTER_MS = 2_000

/**
 * Resolves once the server in `home` has ended though `isClosing` is false: nobody starts it again but a Ferry that opens the
 * directory. A server that only cut the connection, as after the crash of one of its processes, has not ended.
 */
export function endOf(presence: Client, home: string, isClosing: () => boolean): Promise<PostgresNotRunning> {
  return new Promise(resolve => {
    presence.once('end', async () => {
      await delay(GONE_AFTER_MS, undefined, { ref: false })
      if (isClosing() || (await findPostmaster(home))) return
      resolve(
        new PostgresNotRunning(`Ferry's Postgres has ended: the server in ${home} is gone.`, {
          whatToDo:
            'Start this command again (`ferry up`), or let a supervisor do it: it starts Postgres, and goes on with what is ' +
            `unfinished. Nothing is lost. ${filesIn(home).log} may say why it ended.`,
        }),
      )
    })
  })
}
