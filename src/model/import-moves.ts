import type { Action } from './act.ts'
import { ACTIVE_STATUSES, ENDED_STATUSES, type ImportStatus } from './import.ts'

/*
 * Every move of an import from one status to another. `src/imports/move-import.ts` alone carries them out; buttons, next
 * steps and refusals ask here what is possible. `npm run docs` draws the table in docs/architecture.md and in `import.ts`.
 */

/** An import begins in this status. Until it is confirmed, it may be removed with all its rows. */
export const FIRST_STATUS = 'staging' satisfies ImportStatus

/** The work that is left: read the file, or else send rows, or else decide about uncertain rows, or else nothing. */
export const LEFT = ['file', 'rows', 'uncertain', 'nothing'] as const
export type Left = (typeof LEFT)[number]

/** A person's decision, under its name in the audit. */
export const IMPORT_ACTIONS = [
  'confirm',
  'pause',
  'resume',
  'cancel',
  'resolve',
  'purge',
] as const satisfies readonly Action[]
export type ImportAction = (typeof IMPORT_ACTIONS)[number]

/**
 * The events of an import. A late answer of the platform resolves it, too. The others do not come from a person:
 *
 *   start     a worker begins or continues
 *   stop      a worker pauses it for a person to check
 *   exhaust   a worker finds nothing to claim, and no call in flight
 */
export const IMPORT_EVENTS = [...IMPORT_ACTIONS, 'start', 'stop', 'exhaust'] as const
export type ImportEvent = (typeof IMPORT_EVENTS)[number]

/** Why an event is refused in a status that no rule names. */
const REFUSALS: Readonly<Record<ImportEvent, string>> = {
  confirm: 'only a staged import can be confirmed',
  pause: 'only a queued or running import can be paused',
  resume: 'only a paused import can be resumed',
  cancel: 'it has ended already',
  resolve: 'it has no uncertain batch',
  purge: 'its recipients are still needed',
  start: 'only a queued or running import can be sent',
  stop: 'only an import that is sent can be stopped',
  exhaust: 'it is not running',
}

export type ImportRule = {
  readonly event: ImportEvent
  /** The rule is for an import of which this is left. Absent: for any. */
  readonly left?: Left
  readonly from: readonly ImportStatus[]
} & ({ readonly to: ImportStatus | 'same' } | { readonly refused: string })

/** The first rule that fits counts. */
export const IMPORT_RULES: readonly ImportRule[] = [
  {
    event: 'confirm',
    left: 'file',
    from: ['staging'],
    refused: 'its file is still being read; wait until that is done, or import it again',
  },
  { event: 'confirm', left: 'rows', from: ['staging'], to: 'queued' },
  { event: 'confirm', left: 'nothing', from: ['staging'], to: 'completed' },
  { event: 'start', from: ACTIVE_STATUSES, to: 'running' },
  { event: 'pause', from: ACTIVE_STATUSES, to: 'paused' },
  { event: 'stop', from: [...ACTIVE_STATUSES, 'paused'], to: 'paused' },
  // Only the first rows were to be sent.
  { event: 'exhaust', left: 'rows', from: ['running'], to: 'paused' },
  { event: 'exhaust', left: 'uncertain', from: ['running'], to: 'undecided' },
  { event: 'exhaust', left: 'nothing', from: ['running'], to: 'completed' },
  { event: 'resume', from: ['paused'], to: 'queued' },
  { event: 'resolve', left: 'rows', from: ['undecided'], to: 'queued' },
  { event: 'resolve', left: 'nothing', from: ['undecided'], to: 'completed' },
  { event: 'resolve', from: ['queued', 'running', 'paused', 'undecided', 'cancelled'], to: 'same' },
  {
    event: 'resolve',
    from: ['completed'],
    refused: 'it has no uncertain batch; if another import was paused because of it, resume that one',
  },
  { event: 'cancel', from: ['staging', 'queued', 'running', 'paused', 'undecided'], to: 'cancelled' },
  { event: 'purge', from: ENDED_STATUSES, to: 'same' },
]

export type ImportMove = { readonly to: ImportStatus } | { readonly refused: string }

/** The result of an event. `left` is for the events that depend on it. */
export function moveOf(
  event: ImportEvent,
  { status, left }: { readonly status: ImportStatus; readonly left?: Left | undefined },
): ImportMove {
  const rule = IMPORT_RULES.find(
    one => one.event === event && one.from.includes(status) && [undefined, left].includes(one.left),
  )
  if (!rule) return { refused: REFUSALS[event] }
  if ('refused' in rule) return { refused: rule.refused }
  return { to: rule.to === 'same' ? status : rule.to }
}

/** The facts that the decisions of a person depend on. */
export type Decidable = {
  readonly status: ImportStatus
  /** Null while its file is read. */
  readonly stagedAt: Date | null
  /** Rows whose outcome is unknown. */
  readonly uncertain: number
}

/** Whether a person may decide this about an import now. */
export function isAllowed(action: ImportAction, { status, stagedAt, uncertain }: Decidable): boolean {
  if (action === 'resolve' && uncertain === 0) return false
  return 'to' in moveOf(action, { status, left: stagedAt === null ? 'file' : 'rows' })
}
