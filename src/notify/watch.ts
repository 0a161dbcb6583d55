import type { Pool, PoolClient } from 'pg'
import { setOpenEvents } from '#src/db/outbox.ts'
import { inTransaction } from '#src/db/pool.ts'

/*
 * What becomes true because time passes, or because of several runs, so no transaction of theirs can raise the event. It is
 * looked at again and again, and raised in a transaction of its own. What is true, other rooms decide.
 */

/** The questions to other rooms, each about these accounts. The worker joins the rooms. */
export type Questions = {
  /** Inventories that are older than their freshness target, or were never read though there was time for it. */
  listLate(
    client: PoolClient,
    accounts: readonly string[],
  ): Promise<readonly { account: string; inventory: string; whyLate: string | null }[]>
  /** Inventories whose last runs failed, with the last one. */
  listFailing(
    client: PoolClient,
    accounts: readonly string[],
  ): Promise<readonly { account: string; inventory: string; run: string; code: string | null }[]>
  /** Accounts that have no snapshot since their last night was due, with that time. */
  listMissedNights(
    client: PoolClient,
    accounts: readonly string[],
  ): Promise<readonly { account: string; night: Date }[]>
  /** Whether every inventory of these accounts is within its freshness target. */
  areAllFresh(pool: Pool, accounts: readonly string[]): Promise<boolean>
}

export type Watched = {
  readonly pool: Pool
  /** The accounts of this worker's configuration; others are left alone. */
  readonly accounts: readonly string[]
  readonly ask: Questions
}

/** Looks at everything once. */
export function watch({ pool, accounts, ask }: Watched): Promise<void> {
  return inTransaction(pool, async client => {
    const late = (await ask.listLate(client, accounts)).map(({ account, inventory, whyLate }) => {
      return { account, subject: inventory, data: { inventory, why: whyLate } }
    })
    await setOpenEvents(client, 'inventory.late', accounts, late)
    const failing = (await ask.listFailing(client, accounts)).map(({ account, ...data }) => {
      return { account, subject: data.inventory, data }
    })
    await setOpenEvents(client, 'run.failing', accounts, failing)
    const missed = (await ask.listMissedNights(client, accounts)).map(({ account, night }) => {
      return { account, subject: '', data: { night: night.toISOString() } }
    })
    await setOpenEvents(client, 'night.missed', accounts, missed)
  })
}
