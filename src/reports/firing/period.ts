/** The part of the history that is asked for: of one account, or of all. */
export type Period = { readonly since: Date; readonly until: Date; readonly account: string | null }
