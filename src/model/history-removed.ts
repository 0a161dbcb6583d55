/** The code of the error that `ferry_internal.expect_history` raises for a moment whose versions were removed. */
export const HISTORY_REMOVED = 'FE001'
