import { fileURLToPath } from 'node:url'

/** The command line, to be run by the Node that runs this. */
export const FERRY = fileURLToPath(new URL('../../src/cli/ferry.ts', import.meta.url))
