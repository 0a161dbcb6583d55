/** The kinds of events of the history. No package is loaded here: the command line offers them in its help. */
export const CHANGE_KINDS = ['added', 'changed', 'removed', 'returned', 'first reading'] as const
export type ChangeKind = (typeof CHANGE_KINDS)[number]
