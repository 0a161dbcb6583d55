import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from 'pg'
import { succeedsWithin } from '#src/model/within.ts'
import { filesIn } from './cluster.ts'
import { LEAVING } from './connection.ts'
import { PostgresNotRunning } from './errors.ts'
import { findPostmaster } from './server.ts'

/** A server that another process starts again within this time has not ended. */
const GONE_AFTER_MS = 2_000
const ANNOUNCE_WITHIN_MS = 1_000

/**
 * The connection that shows other processes that this one uses the server. If it is cut while the server goes on, as after the
 * crash of one of its processes, it is opened again.
 */
export class Presence {
  readonly #home: string
  readonly #connect: (port: number) => Promise<Client>
  #client: Client
  #isLeaving = false
  /** Resolves once the server has ended before `leave`: nobody starts it again but a Ferry that opens the directory. */
  readonly ended: Promise<PostgresNotRunning>

  constructor(client: Client, home: string, connect: (port: number) => Promise<Client>) {
    this.#client = client
    this.#home = home
    this.#connect = connect
    const { promise, resolve } = Promise.withResolvers<PostgresNotRunning>()
    this.ended = promise
    void this.#untilServerEnds().then(() => {
      if (!this.#isLeaving) resolve(stopped(home))
    })
  }

  async #untilServerEnds(): Promise<void> {
    await endOf(this.#client)
    for (;;) {
      await delay(GONE_AFTER_MS, undefined, { ref: false })
      if (this.#isLeaving) return
      const server = await findPostmaster(this.#home)
      if (!server) return
      const client = await this.#connect(server.port).catch(() => null)
      if (client === null) continue
      this.#client = client
      if (this.#isLeaving) void client.end()
      await endOf(client)
    }
  }

  /** Disconnects. */
  async leave(): Promise<void> {
    this.#isLeaving = true
    // Announced first: another process that closes now may still see this connection. Failing here does no harm.
    await succeedsWithin(ANNOUNCE_WITHIN_MS, this.#client.query(`set application_name = '${LEAVING}'`))
    void this.#client.end()
  }
}

function endOf(client: Client): Promise<void> {
  return new Promise(resolve => client.once('end', resolve))
}

function stopped(home: string): PostgresNotRunning {
  return new PostgresNotRunning(`Ferry's Postgres has stopped: the server in ${home} is no longer running.`, {
    whatToDo:
      'Start this command again (`ferry up`), or let a supervisor do it: it starts Postgres and continues the ' +
      `unfinished work. Nothing is lost. ${filesIn(home).log} may say why it stopped.`,
  })
}
