/*
 * The maximum numbers of rows in one call that a person may ask for. No platform is known to accept as many: what it accepts
 * is learned from a 413, which halves the batch.
 */

/** For one import (`--batch`), where a person who knows the platform asks for it. */
export const MAX_BATCH_ROWS = 100_000

/** For all imports that say nothing else (`FERRY_IMPORT_BATCH`). */
export const MAX_DEFAULT_BATCH_ROWS = 10_000
