import { cancelImport } from '#src/imports/control/cancel.ts'
import { confirmImport } from '#src/imports/control/confirm.ts'
import { pauseImport } from '#src/imports/control/pause.ts'
import { resumeImport } from '#src/imports/control/resume.ts'
import { estimateMs } from '#src/imports/estimate.ts'
import { loadPace } from '#src/imports/reporting/pace.ts'
import type { SummaryRow } from '#src/imports/reporting/summary.ts'
import { counted, number } from '#src/model/counted.ts'
import { isActive, isEnded } from '#src/model/import.ts'
import type { Limit } from '#src/model/limit.ts'
import { type Html, html } from '../html.ts'
import type { Action } from '../page.ts'
import { sentence } from '../parts/sentence.ts'
import { duration } from '../parts/values.ts'
import { destination, type ImportDecision, importAction } from './import-action.ts'
import { isFirstRowsApproval } from './import-decisions.ts'
import { RESOLVE_DECISIONS } from './import-resolve.ts'

/*
 * What a person may decide about an import. Each confirmation says in numbers what will happen; each decision is recorded by
 * the room that carries it out, and workers notice it within seconds.
 */

const confirm: ImportDecision = {
  path: '/imports/:id/confirm',
  done: 'confirmed',
  isPossible: row => row.status === 'staging' && row.staged_at !== null,
  async explain({ id, row, limit }) {
    const first = row.first_rows !== null && row.first_rows < row.pending ? row.first_rows : null
    return {
      title: `Confirm import ${id}?`,
      body: html`<p>${destination(row)} ${willBeSent(row.pending, row.batches, limit)}</p>
${first === null ? null : html`<p>After the first ${counted(first, 'row')} it pauses. The others are sent once somebody resumes it.</p>`}
<p>${notSent(row)}</p>
<p>People are subscribed as soon as the platform has them, without being asked. <strong>What was sent cannot be taken back from here.</strong></p>`,
      button: row.pending === 0 ? `Complete import ${id}` : `Send ${counted(row.pending, 'row')}`,
    }
  },
  carryOut: ({ id, request }, by) => confirmImport(request.target.pool, id, by),
}

const pause: ImportDecision = {
  path: '/imports/:id/pause',
  done: 'paused',
  isPossible: row => isActive(row.status),
  async explain({ id, row, request }) {
    const { inFlight } = await loadPace(request.reader, id)
    return {
      title: `Pause import ${id}?`,
      body: html`<p>No new call begins. ${inFlight === 0 ? 'No call is under way now.' : `${counted(inFlight, 'call')} under way still ${inFlight === 1 ? 'ends and is' : 'end and are'} counted.`}</p>
<p>${counted(row.sent, 'row')} ${row.sent === 1 ? 'is' : 'are'} sent and ${row.sent === 1 ? 'stays' : 'stay'} so. ${counted(row.pending, 'row')} ${row.pending === 1 ? 'waits' : 'wait'}. Nothing is lost: resuming it goes on where it stopped.</p>
<p>Other imports of the same page do not wait for a paused one.</p>`,
      button: `Pause import ${id}`,
    }
  },
  carryOut: ({ id, request }, by) => pauseImport(request.target.pool, id, by),
}

const resume: ImportDecision = {
  path: '/imports/:id/resume',
  done: 'resumed',
  isPossible: row => row.status === 'paused',
  async explain({ id, row, limit, request }) {
    const isApproval = isFirstRowsApproval(row)
    const { batchesLeft } = await loadPace(request.reader, id)
    return {
      title: isApproval ? `Approve the rest of import ${id}?` : `Resume import ${id}?`,
      body: html`${isApproval ? html`<p>Its first rows were sent to be looked at: ${counted(row.sent, 'row')}. Resuming it is the approval of all others. Look at the status page before.</p>` : whyPaused(row)}
<p>${destination(row)} ${willBeSent(row.pending, batchesLeft, limit)}</p>
${row.uncertain > 0 ? html`<p>It also has ${counted(row.uncertain, 'row')} of which no definite answer came. ${row.on_uncertain === 'hold' ? 'They are not sent: they wait for a decision.' : 'They are sent again.'}</p>` : null}
<p>You can pause it again at any time. <strong>What was sent cannot be taken back from here.</strong></p>`,
      button: isApproval ? `Approve and send ${counted(row.pending, 'row')}` : `Resume import ${id}`,
    }
  },
  carryOut: ({ id, request }, by) => resumeImport(request.target.pool, id, by),
}

const cancel: ImportDecision = {
  path: '/imports/:id/cancel',
  done: 'cancelled',
  isPossible: row => !isEnded(row.status),
  async explain({ id, row }) {
    const unsure =
      row.uncertain > 0 &&
      html`<p>The outcome of ${counted(row.uncertain, 'row')} is not known, and cancelling does not change that. This import stays among the decisions that wait until somebody says what became of ${row.uncertain === 1 ? 'it' : 'them'}.</p>`
    return {
      title: `Cancel import ${id}?`,
      body: html`<p>${row.pending === 0 ? 'No row is left to be sent.' : `${counted(row.pending, 'row')} ${row.pending === 1 ? 'is' : 'are'} not sent.`} <strong>A cancelled import cannot be resumed.</strong></p>
<p>${counted(row.sent, 'row')} ${row.sent === 1 ? 'was' : 'were'} sent, and ${row.sent === 1 ? 'stays' : 'stay'} on page ${row.page_id}. Calls under way still end and are counted.</p>
${unsure}
${row.pending === 0 ? null : html`<p>To send the others later, import the file again: recipients that were sent are left out.</p>`}`,
      button: `Cancel import ${id}`,
      isDangerous: true,
    }
  },
  carryOut: ({ id, request }, by) => cancelImport(request.target.pool, id, by),
}

/** How much is sent and for how long, if nobody else uses the limit. */
function willBeSent(rows: number, batches: number, limit: Limit | null): string {
  if (rows === 0) return 'No row is left to be sent.'
  const calls = Math.max(batches, 1)
  const howLong = limit
    ? `about ${duration(estimateMs(calls, limit))} at the rate limit`
    : 'for a time that is not known here, since this worker has no such account'
  return `${counted(rows, 'row')} ${rows === 1 ? 'is' : 'are'} sent in ${counted(calls, 'call')}: ${howLong}.`
}

function notSent({ read, rejected, duplicate, suppressed, already_imported }: SummaryRow): string {
  const left = [
    [rejected, 'rejected'],
    [duplicate, 'duplicate'],
    [suppressed, 'suppressed'],
    [already_imported, 'already imported'],
  ] as const
  const words = left.filter(([rows]) => rows > 0).map(([rows, what]) => `${number(rows)} ${what}`)
  const all = `The file has ${counted(read, 'row')}.`
  return words.length === 0 ? all : `${all} Not sent: ${words.join(', ')}.`
}

function whyPaused({ pause_message, pause_what_to_do }: SummaryRow): Html {
  return html`<p>Why it is paused: ${sentence(pause_message ?? 'not known.')}</p>${pause_what_to_do ? html`<p>${sentence(pause_what_to_do)}</p>` : null}`
}

export const IMPORT_ACTIONS: readonly Action[] = [confirm, pause, resume, cancel, ...RESOLVE_DECISIONS].map(
  importAction,
)
