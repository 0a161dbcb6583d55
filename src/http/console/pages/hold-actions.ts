import { rejectRun } from '#src/inventory/approve.ts'
import { HoldChanged, loadHeldIds, nameOfHeld } from '#src/inventory/holds.ts'
import { type HoldRow, loadHeldShare } from '#src/inventory/list-holds.ts'
import { type Html, html } from '../html.ts'
import { type Action, NotPossible, type PageRequest } from '../page.ts'
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

const approve: Action = {
  path: `${HOLDS}/:run/approve`,
  section: 'ledger',
  async confirm(request) {
    const hold = await findHold(request)
    if (!hold) return null
    if (hold.endedAt) return { goTo: pathOf(hold) }
    const rows = rowsInWords(hold)
    const share = await loadHeldShare(request.reader, hold)
    return {
      title: `Remove ${shareInWords(hold, share)} in ${hold.account}?`,
      body: html`<p>${emptyListing(share)}Ferry reads the inventory again, and removes those of the ${rows} that are still gone, if two listings agree. Rows that are gone too, but are not in this hold, stay.</p>
<p>What is removed keeps its history. It comes back only if the platform lists it again.</p>
<p>This may take minutes. You can leave the page.</p>${await seenField(request, hold)}`,
      button: `Remove ${rows}`,
      isDangerous: true,
      back: pathOf(hold),
    }
  },
  async act(request, by, form) {
    const hold = await findHold(request)
    const { target } = request
    if (!hold || hold.endedAt) throw hasEnded(hold)
    if (!target.inventory.accounts.has(hold.account)) {
      throw new UnknownAccount(`This worker has no account ${hold.account}. Nothing was done.`)
    }
    await target.approvals.approve(hold.id, hold.lastRun, by, seenIn(form)).catch(asNotPossible(hold))
    return pathOf(hold)
  },
}

const reject: Action = {
  path: `${HOLDS}/:run/reject`,
  section: 'ledger',
  async confirm(request) {
    const hold = await findHold(request)
    if (!hold) return null
    if (hold.endedAt) return { goTo: pathOf(hold) }
    const rows = rowsInWords(hold)
    const share = await loadHeldShare(request.reader, hold)
    return {
      title: `Keep ${shareInWords(hold, share)} in ${hold.account}?`,
      body: html`<p>${emptyListing(share)}The ${rows} ${hold.rows === 1 ? 'stays as it is' : 'stay as they are'} for as long as the platform does not list ${hold.rows === 1 ? 'it' : 'them'}. Ferry does not ask again about them until it has listed them once more.</p>
<p>If they turn out to be gone after all, <code>ferry sync</code> with <code>--accept-removals</code> removes them.</p>${await seenField(request, hold)}`,
      button: `Keep ${rows}`,
      back: pathOf(hold),
    }
  },
  async act(request, by, form) {
    const hold = await findHold(request)
    if (!hold || hold.endedAt) throw hasEnded(hold)
    await rejectRun(request.target, hold.lastRun, by, { seen: seenIn(form) }).catch(asNotPossible(hold))
    return pathOf(hold)
  },
}

/** Each poll may hold more rows or fewer: a decision counts for those that the person was told of. */
async function seenField({ reader }: PageRequest, { lastRun }: HoldRow): Promise<Html> {
  return html`<input type="hidden" name="seen" value="${nameOfHeld(await loadHeldIds(reader, lastRun))}">`
}

function seenIn(form: URLSearchParams): string {
  return form.get('seen') ?? ''
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

export const HOLD_ACTIONS: readonly Action[] = [approve, reject]
