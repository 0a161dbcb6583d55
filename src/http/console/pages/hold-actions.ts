import { rejectRun } from '#src/inventory/holds/approve.ts'
import {
  countHeldFiring,
  type HeldShare,
  type HoldOfRun,
  type HoldRow,
  loadHeldShare,
} from '#src/inventory/holds/list-holds.ts'
import type { ActedBy } from '#src/model/act.ts'
import { itOrThem } from '#src/model/counted.ts'
import { type Html, html } from '../html.ts'
import type { Action, Confirmation } from '../page.ts'
import type { ConsoleTarget } from '../target.ts'
import {
  emptyListing,
  findHold,
  firingInWords,
  laterInWords,
  rowsInWords,
  seenOf,
  shareInWords,
} from './hold.ts'
import { HOLDS } from './holds.ts'

/** This worker cannot read the inventory again. */
class UnknownAccount extends Error {
  override readonly name = 'UnknownAccount'
  readonly whatToDo = 'Use the console of a worker that has this account in its settings.'
}

/** The removals of a run no longer wait for a decision. */
class HoldHasEnded extends Error {
  override readonly name = 'HoldHasEnded'
}

/**
 * A decision about the rows that the run in the address held and that are held still. Each poll may hold more: the address says
 * what a person has looked at.
 */
type HoldDecision = {
  readonly path: string
  /** `hold` counts the rows that it is about. */
  explain(hold: HoldOfRun, share: HeldShare, firing: number | null): Omit<Confirmation, 'back'>
  carryOut(hold: HoldOfRun, target: ConsoleTarget, by: ActedBy): Promise<unknown>
}

const approve: HoldDecision = {
  path: `${HOLDS}/:run/approve`,
  explain(hold, share, firing) {
    const rows = rowsInWords(hold)
    return {
      title: `Remove ${shareInWords(hold, share)} in ${hold.account}?`,
      body: html`<p>${emptyListing(share)}Ferry reads the inventory again. It removes those of the ${rows} that are still missing, if two listings agree. Other missing rows stay.</p>
${firing === null ? null : html`<p><strong>${firingInWords(firing)}</strong></p>`}
${laterNote(hold)}
<p>Removed rows keep their history. They come back only if the platform lists them again.</p>
<p>This may take minutes. You can leave the page.</p>`,
      button: `Remove ${rows}`,
      isDangerous: true,
    }
  },
  async carryOut({ id, account, run }, target, by) {
    if (!target.inventory.accounts.has(account)) {
      throw new UnknownAccount(`This worker has no account ${account}. Nothing was done.`)
    }
    await target.approvals.approve(id, run, by)
  },
}

const reject: HoldDecision = {
  path: `${HOLDS}/:run/reject`,
  explain(hold, share) {
    const rows = rowsInWords(hold)
    return {
      title: `Keep ${shareInWords(hold, share)} in ${hold.account}?`,
      body: html`<p>${emptyListing(share)}The ${rows} ${hold.rows === 1 ? 'stays as it is' : 'stay as they are'} for as long as the platform does not list ${itOrThem(hold.rows)}. Ferry does not ask again about ${itOrThem(hold.rows)}. If another row vanishes before the platform lists ${hold.rows === 1 ? 'this one' : 'these'} again, Ferry asks about that one, even if it is only one.</p>
${laterNote(hold)}
<p>If they turn out to be gone after all, <code>ferry sync</code> with <code>--accept-removals</code> removes them.</p>`,
      button: `Keep ${rows}`,
    }
  },
  carryOut: ({ run }, target, by) => rejectRun(target, run, by),
}

function holdAction({ path, explain, carryOut }: HoldDecision): Action {
  return {
    path,
    section: 'ledger',
    backFrom: ({ run = '' }) => `${HOLDS}/${encodeURIComponent(run)}`,
    async confirm(request) {
      const hold = await findHold(request)
      if (!hold) return null
      const back = `${HOLDS}/${hold.run}`
      const seen = seenOf(hold)
      if (hold.endedAt || seen.rows === 0) return { goTo: back }
      const [share, firing] = await Promise.all([
        loadHeldShare(request.reader, hold),
        countHeldFiring(request.reader, hold),
      ])
      return { ...explain(seen, share, firing), back }
    },
    async act(request, by) {
      const hold = await findHold(request)
      if (!hold || hold.endedAt) throw hasEnded(hold)
      await carryOut(hold, request.target, by)
      return `${HOLDS}/${hold.run}`
    },
  }
}

function laterNote(hold: HoldOfRun): Html | null {
  return hold.later > 0 ? html`<p><strong>${laterInWords(hold)}</strong></p>` : null
}

function hasEnded(hold: HoldRow | null): HoldHasEnded {
  const how = hold?.outcome ? `it was ${hold.outcome}` : 'it no longer exists'
  return new HoldHasEnded(`This hold has already ended: ${how}. Nothing was done.`)
}

export const HOLD_ACTIONS: readonly Action[] = [approve, reject].map(holdAction)
