import { defineConfig } from 'vitest/config'

/**
 * Tests that wait for real time (leases, time-outs), or that start many processes or servers. `npm test` leaves them to
 * `npm run test:all`.
 */
export const LONG = [
  // Stories over several processes: chaos, restarts, poolers, roles, the demo.
  'test/flows/*.test.ts',
  // Postgres servers of their own.
  'test/embedded/*.test.ts',
  'test/cli/schema.test.ts',
  // A worker is killed or suspended, and its lease must end first (18 s).
  'test/worker/lost-worker.test.ts',
  'test/jobs/poll-alert-rules.test.ts',
  'test/jobs/snapshot-inventory.test.ts',
  'test/inventory/long-apply.test.ts',
  // Postgres, Redis or the platform gives no answer, until a time-out ends.
  'test/worker/faults.test.ts',
  'test/worker/out-of-reach.test.ts',
  'test/worker/hanging-*.test.ts',
  'test/db/silence.test.ts',
  'test/db/isolation.test.ts',
  'test/cli/connection-errors.test.ts',
  'test/cli/worker-and-redis.test.ts',
  // Every command once more, each in a process of its own.
  'test/cli/canary.test.ts',
  'test/cli/up.test.ts',
  'test/docs/quick-start.test.ts',
  'test/docs/every-command.test.ts',
  'test/schedules/wrong-clock.test.ts',
]

export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    pool: 'forks',
    // Each test file has its own databases and mostly waits: four at a time keep two cores busy.
    maxWorkers: 4,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    projects: [
      {
        extends: true,
        // Files share processes, because loading the modules anew for each file takes 0.4 s. So a module keeps no state
        // of a test.
        test: { name: 'quick', include: ['test/**/*.test.ts'], exclude: LONG, isolate: false },
      },
      { extends: true, test: { name: 'long', include: LONG } },
    ],
  },
})
