import { rejectRun } from '#src/inventory/approve.ts'
import { HoldChanged, loadHeldIds, nameOfHeld } from '#src/inventory/holds.ts'
import { type HeldShare, type HoldRow, loadHeldShare } from '#src/inventory/list-holds.ts'
import type { ActedBy } from '#src/model/act.ts'
import { type Html, html } from '../html.ts'
import { type Action, type Confirmation, NotPossible, type PageRequest } from '../page.ts'
import type { ConsoleTarget } from '../target.ts'
import { emptyListing, findHold, rowsInWords, shareInWords } from './hold.ts'
import { HOLDS, pathOf } from './holds.ts'

/** This worker cannot read the inventory again. */
class UnknownAccount extends Error {
  override readonly name = 'UnknownAccount'
  readonly whatToDo = 'Use the console of a worker that has this account in its settings.'
}

/** The removals of a run no longer wait for a decision. */
class HoldHasEnded extends Error {
  override readonly name = 'HoldHasEnded'
}

/** What a person may decide about the rows of a hold. */
type HoldDecision = {
  readonly path: string
  explain(hold: HoldRow, share: HeldShare): Omit<Confirmation, 'back'>
  /** `seen` names the rows that the person was told of. */
  carryOut(hold: HoldRow, target: ConsoleTarget, by: ActedBy, seen: string): Promise<unknown>
}

const approve: HoldDecision = {
  path: `${HOLDS}/:run/approve`,
  explain(hold, share) {
    const rows = rowsInWords(hold)
    return {
      title: `Remove ${shareInWords(hold, share)} in ${hold.account}?`,
      body: html`<p>${emptyListing(share)}Ferry reads the inventory again, and removes those of the ${rows} that are still gone, if two listings agree. Rows that are gone too, but are not in this hold, stay.</p>
<p>What is removed keeps its history. It comes back only if the platform lists it again.</p>
<p>This may take minutes. You can leave the page.</p>`,
      button: `Remove ${rows}`,
      isDangerous: true,
    }
  },
  async carryOut({ id, account, lastRun }, target, by, seen) {
    if (!target.inventory.accounts.has(account)) {
      throw new UnknownAccount(`This worker has no account ${account}. Nothing was done.`)
    }
    await target.approvals.approve(id, lastRun, by, seen)
  },
}

const reject: HoldDecision = {
  path: `${HOLDS}/:run/reject`,
  explain(hold, share) {
    const rows = rowsInWords(hold)
    return {
      title: `Keep ${shareInWords(hold, share)} in ${hold.account}?`,
      body: html`<p>${emptyListing(share)}The ${rows} ${hold.rows === 1 ? 'stays as it is' : 'stay as they are'} for as long as the platform does not list ${hold.rows === 1 ? 'it' : 'them'}. Ferry does not ask again about them until it has listed them once more.</p>
<p>If they turn out to be gone after all, <code>ferry sync</code> with <code>--accept-removals</code> removes them.</p>`,
      button: `Keep ${rows}`,
    }
  },
  carryOut: ({ lastRun }, target, by, seen) => rejectRun(target, lastRun, by, { seen }),
}

function holdAction({ path, explain, carryOut }: HoldDecision): Action {
  return {
    path,
    section: 'ledger',
    async confirm(request) {
      const hold = await findHold(request)
      if (!hold) return null
      const back = pathOf(hold)
      if (hold.endedAt) return { goTo: back }
      const { body, ...words } = explain(hold, await loadHeldShare(request.reader, hold))
      return { ...words, body: html`${body}${await seenField(request, hold)}`, back }
    },
    async act(request, by, form) {
      const hold = await findHold(request)
      if (!hold || hold.endedAt) throw hasEnded(hold)
      await carryOut(hold, request.target, by, form.get('seen') ?? '').catch(asNotPossible(hold))
      return pathOf(hold)
    },
  }
}

/** Each poll may hold more rows or fewer: a decision counts for those that the person was told of. */
async function seenField({ reader }: PageRequest, { lastRun }: HoldRow): Promise<Html> {
  return html`<input type="hidden" name="seen" value="${nameOfHeld(await loadHeldIds(reader, lastRun))}">`
}

function asNotPossible(hold: HoldRow): (error: unknown) => never {
  return error => {
    if (error instanceof HoldChanged) throw new NotPossible(error.message, pathOf(hold), { cause: error })
    throw error
  }
}

function hasEnded(hold: HoldRow | null): HoldHasEnded {
  const how = hold?.outcome ? `it was ${hold.outcome}` : 'it is gone'
  return new HoldHasEnded(`This hold has ended meanwhile: ${how}. Nothing was done.`)
}

export const HOLD_ACTIONS: readonly Action[] = [approve, reject].map(holdAction)
