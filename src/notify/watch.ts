import type { Pool, PoolClient } from 'pg'
import { setOpenEvents } from '#src/db/outbox.ts'
import { inTransaction } from '#src/db/pool.ts'
import type { EventData } from '#src/model/event.ts'
import { causeOf, type Trouble } from '#src/model/trouble.ts'

/*
 * What becomes true because time passes, or because of several runs, so no transaction of theirs can raise the event. It is
 * looked at again and again, and raised in a transaction of its own. What is true, other rooms decide.
 */

/** The questions to other rooms, most of them about these accounts. The worker joins the rooms. */
export type Questions = {
  /** The accounts of all workers, whether they live or not. */
  listAccounts(pool: Pool): Promise<readonly string[]>
  /** Inventories that are older than their freshness target, or were never read though there was time for it. */
  listLate(client: PoolClient, accounts: readonly string[]): Promise<readonly Trouble[]>
  /** Inventories whose last runs failed, with the last one. */
  listFailing(client: PoolClient, accounts: readonly string[]): Promise<readonly Trouble[]>
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
  /** All there are: what is open for another is over. */
  readonly accounts: readonly string[]
  readonly ask: Questions
}

/** Looks at everything once. */
export function watch({ pool, accounts, ask }: Watched): Promise<void> {
  return inTransaction(pool, async client => {
    const late = await ask.listLate(client, accounts)
    await setOpenEvents(client, 'inventory.late', late.map(eventOf))
    const failing = await ask.listFailing(client, accounts)
    await setOpenEvents(client, 'run.failing', failing.map(eventOf))
    const missed = (await ask.listMissedNights(client, accounts)).map(({ account, night }) => {
      // A night is not missed for a reason of its own if runs fail. That another schedule is paused is no reason.
      const [trouble] = [...failing, ...late].filter(one => one.account === account && one.why !== 'paused')
      const data = { night: night.toISOString(), ...(trouble && factsOf(trouble)) }
      return { account, subject: '', data }
    })
    await setOpenEvents(client, 'night.missed', missed)
  })
}

function eventOf(trouble: Trouble) {
  return { account: trouble.account, subject: trouble.inventory, data: factsOf(trouble) }
}

/** What the event stores of a trouble: what `troubleInWords` needs, and its cause, which is told once. */
function factsOf(trouble: Trouble): EventData {
  const { why, inventory, schedule, run, code, keySetting, hasWorker } = trouble
  return {
    inventory,
    why,
    schedule,
    run,
    code,
    keySetting,
    hasWorker: Number(hasWorker),
    cause: causeOf(trouble),
  }
}
