import type { Job } from '#src/queue/job.ts'

/** All that Ferry does by itself, and when. */
export const JOBS: readonly Job[] = []
