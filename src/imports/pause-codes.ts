/** The code of the pause after the first rows (`--first`): whoever resumes the import approves the rest. */
export const FIRST_ROWS_SENT = 'FirstRowsSent'

/** The code of the pause after the platform rejected too many rows. */
export const TOO_MANY_REJECTS = 'TooManyRejects'
