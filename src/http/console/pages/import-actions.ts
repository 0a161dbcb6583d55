import { cancelImport, confirmImport, pauseImport, resumeImport } from '#src/imports/control/decide.ts'
import { estimateInWords, estimateMs } from '#src/imports/estimate.ts'
import { loadPace } from '#src/imports/reporting/pace.ts'
import type { SummaryRow } from '#src/imports/reporting/summary.ts'
import { isFirstRowsApproval } from '#src/imports/reporting/waits-for.ts'
import { counted, itOrThem, number } from '#src/model/counted.ts'
import type { Limit } from '#src/model/limit.ts'
import { type Html, html } from '../html.ts'
import type { Action } from '../page.ts'
import { sentence } from '../parts/values.ts'
import { destination, type ImportDecision, importAction } from './import-action.ts'
import { RESOLVE_DECISIONS } from './import-resolve.ts'

/*
 * What a person may decide about an import. Each confirmation says in numbers what will happen; each decision is recorded by
 * the room that carries it out, and workers notice it within seconds.
 */

const confirm: ImportDecision = {
  path: '/imports/:id/confirm',
  done: 'confirmed',
  action: 'confirm',
  async explain({ id, row, limit }) {
    const first = row.firstRows !== null && row.firstRows < row.pending ? row.firstRows : null
    return {
      title: `Confirm import ${id}?`,
      body: html`<p>${destination(row)} ${willBeSent(row.pending, row.batches, limit)}</p>
${first === null ? null : html`<p>After the first ${counted(first, 'row')} it pauses. The rest is sent once somebody resumes it.</p>`}
<p>${notSent(row)}</p>
<p>People are subscribed at once, without being asked. <strong>Ferry cannot take back what was sent.</strong></p>`,
      button: row.pending === 0 ? `Complete import ${id}` : `Send ${counted(row.pending, 'row')}`,
    }
  },
  carryOut: ({ id, request, by, seen }) => confirmImport(request.target.pool, id, by, seen),
}

const pause: ImportDecision = {
  path: '/imports/:id/pause',
  done: 'paused',
  action: 'pause',
  async explain({ id, row, request }) {
    const { inFlight } = await loadPace(request.reader, id)
    return {
      title: `Pause import ${id}?`,
      body: html`<p>No new calls start. ${inFlight === 0 ? 'No call is in flight.' : `${counted(inFlight, 'call')} in flight will finish and be counted.`}</p>
<p>${counted(row.sent, 'row was', 'rows were')} sent, ${counted(row.pending, 'is', 'are')} pending. Nothing is lost: resuming continues where it stopped.</p>
<p>Other imports of the same page do not wait for a paused one.</p>`,
      button: `Pause import ${id}`,
    }
  },
  carryOut: ({ id, request, by, seen }) => pauseImport(request.target.pool, id, by, seen),
}

const resume: ImportDecision = {
  path: '/imports/:id/resume',
  done: 'resumed',
  action: 'resume',
  async explain({ id, row, limit, request }) {
    const isApproval = isFirstRowsApproval(row)
    const { batchesLeft } = await loadPace(request.reader, id)
    return {
      title: isApproval ? `Approve the rest of import ${id}?` : `Resume import ${id}?`,
      body: html`${isApproval ? html`<p>Its first rows were sent for review: ${counted(row.sent, 'row')}. Resuming approves all others. Check the status page first.</p>` : whyPaused(row)}
<p>${destination(row)} ${willBeSent(row.pending, batchesLeft, limit)}</p>
${row.uncertain > 0 ? html`<p>The outcome of ${counted(row.uncertain, 'more row')} is unknown. ${row.onUncertain === 'hold' ? 'They wait for a decision.' : 'They are sent again.'}</p>` : null}
<p>You can pause it again at any time. <strong>Ferry cannot take back what was sent.</strong></p>`,
      button: isApproval ? `Approve and send ${counted(row.pending, 'row')}` : `Resume import ${id}`,
    }
  },
  carryOut: ({ id, request, by, seen }) => resumeImport(request.target.pool, id, by, seen),
}

const cancel: ImportDecision = {
  path: '/imports/:id/cancel',
  done: 'cancelled',
  action: 'cancel',
  async explain({ id, row }) {
    const { pending, sent, uncertain, pageId, status } = row
    const notSent = pending > 0 && `${counted(pending, 'row')} will not be sent.`
    const none = uncertain === 0 ? 'No rows are left to send.' : 'The import ends.'
    const mayCall = status !== 'staging' && status !== 'undecided'
    return {
      title: `Cancel import ${id}?`,
      body: html`<p>${notSent || none} <strong>A cancelled import cannot be resumed.</strong></p>
${sent > 0 && html`<p>${counted(sent, 'row was', 'rows were')} sent, and ${sent === 1 ? 'stays' : 'stay'} on page ${pageId}.</p>`}
${mayCall && html`<p>Calls in flight will finish and be counted.</p>`}
${uncertain > 0 && html`<p>The outcome of ${counted(uncertain, 'row')} is unknown. Ferry does not send ${itOrThem(uncertain)} again; you can still mark ${itOrThem(uncertain)} as sent afterwards.</p>`}
${pending === 0 ? null : html`<p>To send the others later, import the file again: recipients that were already sent are left out.</p>`}`,
      button: `Cancel import ${id}`,
      isDangerous: true,
    }
  },
  carryOut: ({ id, request, by, seen }) => cancelImport(request.target.pool, id, by, seen),
}

/** How much is sent and for how long, if nobody else uses the limit. */
function willBeSent(rows: number, batches: number, limit: Limit | null): string {
  if (rows === 0) return 'No rows are left to send.'
  const calls = Math.max(batches, 1)
  const howLong = limit
    ? estimateInWords(estimateMs(calls, limit))
    : 'this worker does not have the account, so the time is unknown'
  return `${counted(rows, 'row')} will be sent in ${counted(calls, 'call')}: ${howLong}.`
}

function notSent({ read, rejected, duplicate, suppressed, alreadyImported }: SummaryRow): string {
  const left = [
    [rejected, 'rejected'],
    [duplicate, 'duplicate'],
    [suppressed, 'suppressed'],
    [alreadyImported, 'already imported'],
  ] as const
  const words = left.filter(([rows]) => rows > 0).map(([rows, what]) => `${number(rows)} ${what}`)
  const all = `The file has ${counted(read, 'row')}.`
  return words.length === 0 ? all : `${all} Not sent: ${words.join(', ')}.`
}

function whyPaused({ pauseMessage, pauseWhatToDo }: SummaryRow): Html {
  return html`<p>Why it is paused: ${sentence(pauseMessage ?? 'unknown.')}</p>${pauseWhatToDo ? html`<p>${sentence(pauseWhatToDo)}</p>` : null}`
}

export const IMPORT_ACTIONS: readonly Action[] = [confirm, pause, resume, cancel, ...RESOLVE_DECISIONS].map(
  importAction,
)
