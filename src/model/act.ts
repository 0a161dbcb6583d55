/** Manual actions, named as the commands are. */
export const ACTIONS = [
  'sync',
  'approve',
  'reject',
  'confirm',
  'pause',
  'resume',
  'cancel',
  'resolve',
  'purge',
  'run',
  'send',
] as const
export type Action = (typeof ACTIONS)[number]

/** The subject of an act. */
export const SUBJECT_KINDS = ['run', 'import', 'schedule', 'event'] as const
export type SubjectKind = (typeof SUBJECT_KINDS)[number]

/** The person who acts, and the reason in that person's words. */
export type ActedBy = { readonly actor: string; readonly because: string | null }

export const MAX_ACTOR_CHARACTERS = 200
export const MAX_BECAUSE_CHARACTERS = 1_000

/** One thing that a person did. */
export type Act = {
  readonly account: string
  readonly action: Action
  readonly subjectKind: SubjectKind
  /** The number of the run or import, or the name of the schedule. */
  readonly subject: string
  /** Of a decision about held rows: how many it was about, and how many were held. */
  readonly decided?: { readonly rows: number; readonly of: number }
}
