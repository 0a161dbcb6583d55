import { z } from 'zod'
import { partOf } from '#src/db/list.ts'
import {
  type Approval,
  countHeldFiring,
  findHoldOfRun,
  type HeldFolder,
  type HeldRow,
  type HeldShare,
  type HoldOfRun,
  type HoldRow,
  listApprovals,
  listHeldFolders,
  listHeldIds,
  listHeldRows,
  loadHeldShare,
  loadRejection,
  MAX_COUNTED,
} from '#src/inventory/holds/list-holds.ts'
import { counted, itOrThem, number } from '#src/model/counted.ts'
import { NOUNS } from '#src/model/resource.ts'
import type { ApprovalState } from '../approvals.ts'
import { type Html, type HtmlValue, html } from '../html.ts'
import { href, idOf, type Page, type PageRequest } from '../page.ts'
import { requestId } from '../parts/calls.ts'
import { nameIn, pathOf as pathOfRow } from '../parts/changes.ts'
import { CursorText, PAGE_ROWS, pager, readCursor, writeCursor } from '../parts/paging.ts'
import { runBadge, runLink } from '../parts/runs.ts'
import { type Column, facts, table } from '../parts/table.ts'
import { ledgerTabs } from '../parts/tabs.ts'
import { badge, foreign, ruleBadges, sentence, time } from '../parts/values.ts'
import { HOLDS, outcomeOf, pathOf } from './holds.ts'

const MAX_FOLDERS = 20
/** Of the rows that only later runs hold; the page of the last run shows all. */
const MAX_LATER = 20
const MAX_APPROVALS = 5
/** While an approval is under way. */
const REFRESH_MS = 10_000
/** Each poll may hold other rows, and somebody else may decide. */
const WAITING_MS = 30_000

const Cursor = z.tuple([CursorText])

export const hold: Page = {
  path: `${HOLDS}/:run`,
  section: 'ledger',
  access: 'read',
  async render(request) {
    const { reader, target, query } = request
    const hold = await findHold(request)
    if (!hold) return null
    const [after = null] = readCursor(query, Cursor) ?? []
    const [share, firing, folders, ids, later, approvals, rejection] = await Promise.all([
      hold.endedAt ? null : loadHeldShare(reader, hold),
      hold.endedAt ? null : countHeldFiring(reader, hold),
      hold.endedAt || after !== null ? [] : listHeldFolders(reader, hold, MAX_FOLDERS),
      listHeldIds(reader, hold, 'seen', PAGE_ROWS + 1, after),
      after !== null ? [] : listHeldIds(reader, hold, 'later', MAX_LATER),
      listApprovals(reader, hold, MAX_APPROVALS),
      hold.outcome === 'rejected' ? loadRejection(reader, hold) : null,
    ])
    const { rows: shown, next } = partOf(ids, PAGE_ROWS, id => [id])
    const known = await listHeldRows(reader, hold, [...shown, ...later])
    const names = new Map(known.map(row => [row.id, row]))
    const rowsOf = (of: readonly string[]) => of.map(id => names.get(id) ?? { ...UNKNOWN, id })
    const here = target.approvals.stateOf(hold.id)
    const isUnderWay = here?.state === 'under way' || approvals.some(one => one.finishedAt === null)
    return {
      title: `Removals held: ${hold.resource} of ${hold.account}`,
      ...(hold.endedAt && !isUnderWay ? {} : { refreshEveryMs: isUnderWay ? REFRESH_MS : WAITING_MS }),
      body: html`${ledgerTabs(HOLDS)}
${share ? toDecide(hold, { share, firing, isUnderWay, hasAccount: target.inventory.accounts.has(hold.account) }) : whatCame(hold, approvals)}
${whatCameOfIt(hold, here, approvals, target.timezone)}
${facts(factsOf(hold, decisionOf(hold, approvals, rejection?.because ?? null), target.timezone))}
${folders.length > 0 ? foldersOf(folders) : null}
${later.length > 0 ? rowsTable(`New since run ${hold.run}: ${number(hold.later)}`, hold, rowsOf(later)) : null}
${rowsTable(hold.later > 0 || hold.endedAt ? `Rows that run ${hold.run} held` : 'Rows that would be removed', hold, rowsOf(shown))}
${pager(request.path, query, next && writeCursor(next))}
${approvals.length > 0 ? approvalsOf(approvals, target.timezone) : null}`,
    }
  },
}

/** The hold that the run in the address made or updated, open or ended. */
export async function findHold({ reader, params }: PageRequest): Promise<HoldOfRun | null> {
  const run = idOf(params.run)
  return run === null ? null : findHoldOfRun(reader, run)
}

const UNKNOWN: Omit<HeldRow, 'id'> = {
  name: null,
  folder: null,
  team: null,
  by: null,
  enabled: false,
  firing: false,
}

/** What the rows of an inventory are called. */
export function rowsInWords({ resource, rows }: Pick<HoldRow, 'resource' | 'rows'>): string {
  return counted(rows, NOUNS[resource])
}

/** `43 of 120 alert rules`, or `all 43 alert rules`: the worst that can be. */
export function shareInWords(
  { resource, rows }: Pick<HoldRow, 'resource' | 'rows'>,
  { current }: HeldShare,
): string {
  if (rows < current) {
    const all = current > MAX_COUNTED ? `${number(MAX_COUNTED)}+` : number(current)
    return `${number(rows)} of ${all} ${NOUNS[resource]}s`
  }
  return rows === 1 ? `the only ${NOUNS[resource]}` : `all ${rowsInWords({ resource, rows })}`
}

/** An empty listing is more likely a fault than an inventory that is really gone. */
export function emptyListing({ wasListingEmpty }: HeldShare): Html | null {
  return wasListingEmpty ? html`<strong>The listing was empty.</strong> ` : null
}

/** How many of the rows are firing: to remove such a rule is more often a mistake. Null for what cannot fire. */
export function firingInWords(firing: number | null): string | null {
  if (firing === null) return null
  return `${firing === 0 ? 'None' : number(firing)} of these ${firing > 1 ? 'are' : 'is'} firing now.`
}

/** The rows that a decision made on this page is about: rows that later runs hold too were not looked at. */
export function seenOf<Hold extends HoldOfRun>(hold: Hold): Hold {
  return { ...hold, rows: hold.rows - hold.later }
}

/** `hasAccount`: whether this worker can read the inventory again. */
type Decidable = { share: HeldShare; firing: number | null; isUnderWay: boolean; hasAccount: boolean }

function toDecide(hold: HoldOfRun, { share, firing, isUnderWay, hasAccount }: Decidable): Html {
  const seen = seenOf(hold)
  const here = `${HOLDS}/${hold.run}`
  const them = itOrThem(seen.rows)
  const theyAre = seen.rows === 1 ? 'It is' : 'They are'
  const which = hold.later > 0 ? `the ${number(seen.rows)} of run ${hold.run}` : them
  return html`${seen.rows === 0 ? null : html`<p class="notice warn">${emptyListing(share)}The platform no longer lists ${shareInWords(seen, share)} that Ferry stores. ${firingInWords(firing)} Decide whether to remove ${them}.</p>`}
${hold.later > 0 ? html`<p class="notice warn">${laterInWords(hold)} <a href="${pathOf(hold)}">Look at all ${number(hold.rows)}, as run ${hold.lastRun} found them</a>.</p>` : null}
${
  isUnderWay || seen.rows === 0
    ? null
    : html`<p class="buttons">${hasAccount ? html`<a class="button danger" href="${here}/approve">${theyAre} gone: remove ${which}</a> ` : null}<a class="button" href="${here}/reject">${theyAre} not gone: keep ${which}</a></p>
${hasAccount ? null : html`<p>This worker has no account ${foreign(hold.account)}: the console of one that has it, or <code>ferry runs approve ${hold.run}</code> there, removes ${which}.</p>`}`
}`
}

/** `1 row is new since run 4, and is not part of a decision made here.` */
export function laterInWords({ later, run }: HoldOfRun): string {
  const rows = counted(later, 'row')
  return later === 1
    ? `${rows} is new since run ${run}: a decision on this page does not touch it.`
    : `${rows} are new since run ${run}: a decision on this page does not touch them.`
}

function whatCame(hold: HoldRow, approvals: readonly Approval[]): Html | null {
  const { account, rejectedBy, outcome } = hold
  switch (outcome) {
    case 'approved': {
      const removed = approvals.find(({ status }) => status === 'succeeded')?.removed
      if (removed === undefined)
        return html`<p class="notice">Approved: the rows that were still missing were removed.</p>`
      return removed === 0
        ? html`<p class="notice">Approved, but all of the rows were listed again: nothing was removed.</p>`
        : html`<p class="notice">Approved: ${rowsInWords({ ...hold, rows: removed })} ${removed === 1 ? 'was still missing, and was removed' : 'were still missing, and were removed'}. <a href="${href('/changes', { account, kind: 'removed' })}">See what was removed</a>.</p>`
    }
    case 'rejected':
      return html`<p class="notice">Rejected by ${foreign(rejectedBy)}: the rows stay. By itself, Ferry asks about a row again, or removes it, only if a complete listing has it again and later ones do not.</p>`
    case 'voided':
      return html`<p class="notice">A later run settled it: it found the rows again, or it looked at other folders. <a href="${HOLDS}">What waits for a decision</a>.</p>`
    case null:
      return null
  }
}

/** The approval under way, or how the last one ended, if that was not well. */
function whatCameOfIt(
  { outcome }: HoldRow,
  here: ApprovalState | null,
  approvals: readonly Approval[],
  timezone: string,
): Html | null {
  const [last] = approvals
  if (last?.finishedAt === null) {
    return html`<p class="notice" role="status">${badge('quiet', 'under way', 'Approval')} Approved by ${foreign(last.actor)}. Ferry is reading the inventory again in ${runLink(last.run, `run ${last.run}`)}. This may take minutes. This page will show the result.</p>`
  }
  if (here?.state === 'under way') {
    return html`<p class="notice" role="status">${badge('quiet', 'under way', 'Approval')} Approved by ${foreign(here.actor)} at ${time(here.since, timezone)}. Ferry reads the inventory again once no other run is reading it. This page will show the result.</p>`
  }
  if (here && (!last || here.at > last.startedAt)) {
    return html`<p class="problem" role="status">${badge('bad', 'failed', 'Approval')} Approved by ${foreign(here.actor)}, but it failed at ${time(here.at, timezone)}: ${sentence(here.message)}</p>`
  }
  if (last?.status === 'succeeded' && outcome === null) {
    if (last.removed === 0 && last.message !== null) {
      return html`<p class="problem" role="status">${badge('warn', 'nothing removed', 'Approval')} Approved by ${foreign(last.actor)} in ${runLink(last.run, `run ${last.run}`)}, but nothing was removed: ${sentence(last.message)}</p>`
    }
    return html`<p class="notice" role="status">${foreign(last.actor)} approved other rows of this hold in ${runLink(last.run, `run ${last.run}`)}: ${number(last.removed)} were removed. These stay held until somebody decides, however few they are.</p>`
  }
  if (!last || last.status === 'succeeded') return null
  return html`<p class="problem" role="status">${badge('bad', last.status, 'Approval')} Approved by ${foreign(last.actor)}, but nothing was removed: ${sentence(last.message ?? 'the reason is unknown.')} ${last.requestId ? html`Request id: ${requestId(last.requestId)}. ` : null}${runLink(last.run, `Run ${last.run}`)} has the details.${outcome === null ? ' Fix the cause, then approve again.' : null}</p>`
}

/** Who decided and why; null if nobody did. */
function decisionOf(
  { outcome, rejectedBy }: HoldRow,
  approvals: readonly Approval[],
  because: string | null,
): Pick<Approval, 'actor' | 'because'> | null {
  if (outcome === 'rejected') return { actor: rejectedBy, because }
  return (outcome === 'approved' && approvals.find(({ status }) => status === 'succeeded')) || null
}

function factsOf(
  hold: HoldRow,
  decision: ReturnType<typeof decisionOf>,
  timezone: string,
): (readonly [string, HtmlValue])[] {
  const { account, resource, rows, openedByRun, lastRun, openedAt, endedAt } = hold
  const run = (id: bigint) => runLink(id, `run ${id}`)
  return [
    ['State', outcomeOf(hold)],
    ['Account', foreign(account)],
    ['Inventory', resource],
    ['Rows', number(rows)],
    ['First missing', html`<span>${time(openedAt, timezone)}, ${run(openedByRun)}</span>`],
    ...(lastRun === openedByRun ? [] : [['Last missing', run(lastRun)] as const]),
    ...(endedAt ? [['Ended', time(endedAt, timezone)] as const] : []),
    ...(decision
      ? ([
          ['Decided by', foreign(decision.actor)],
          ['Why', foreign(decision.because)],
        ] as const)
      : []),
  ]
}

function foldersOf(folders: readonly HeldFolder[]): Html {
  return table(
    'Folders that would lose the most',
    [
      { head: 'Folder', cell: row => html`<code>${row.folder}</code>` },
      { head: 'Would be removed', isNumber: true, cell: row => number(row.held) },
      { head: 'Current', isNumber: true, cell: row => number(row.current) },
    ],
    folders,
    html``,
  )
}

function rowsTable(caption: string, { account, resource, endedAt }: HoldRow, rows: readonly HeldRow[]): Html {
  const columns: Column<HeldRow>[] = [
    {
      head: 'Name',
      cell: ({ id, name }) =>
        html`<a href="${pathOfRow(resource, account, id)}">${nameIn(resource, name, 'no longer stored')}</a>`,
    },
    { head: 'Id', cell: ({ id }) => html`<code>${id}</code>` },
    ...(resource === 'alert-rules'
      ? [
          ...(endedAt === null ? [{ head: 'State', cell: stateOf }] : []),
          { head: 'Folder', cell: ({ folder }: HeldRow) => folder },
          { head: 'Team', cell: ({ team }: HeldRow) => foreign(team) },
          { head: 'Last edited by', cell: ({ by }: HeldRow) => foreign(by) },
        ]
      : []),
  ]
  return table(caption, columns, rows, html`No rows left.`)
}

function stateOf({ name, enabled, firing }: HeldRow): Html | null {
  if (name === null) return null
  return ruleBadges(enabled, firing)
}

function approvalsOf(approvals: readonly Approval[], timezone: string): Html {
  return table(
    'Approvals',
    [
      { head: 'Run', cell: row => runLink(row.run) },
      { head: 'By', cell: row => foreign(row.actor) },
      { head: 'Why', cell: row => foreign(row.because) },
      { head: 'Began', cell: row => time(row.startedAt, timezone) },
      { head: 'Status', cell: row => runBadge(row.status) },
      { head: 'Removed', isNumber: true, cell: row => number(row.removed) },
      { head: 'Error', cell: row => row.errorCode },
    ],
    approvals,
    html``,
  )
}
