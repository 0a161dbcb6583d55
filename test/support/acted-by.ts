import type { ActedBy } from '#src/model/act.ts'

/** Who decides in tests that are not about that. */
export const ADA: ActedBy = { actor: 'ada@laptop', because: null }
