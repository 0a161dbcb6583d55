import { defineConfig } from 'vitest/config'

/**
 * Tests that wait for real time (leases, time-outs), that start many processes or servers, or that try very much. `npm test`
 * leaves them to `npm run test:all`.
 */
export const LONG = [
  // Stories over several processes: chaos, restarts, poolers, roles, the demo.
  'test/flows/*.test.ts',
  // Postgres servers of their own.
  'test/embedded/*.test.ts',
  'test/cli/schema.test.ts',
  // A worker is killed or suspended, and its lease must end first (18 s).
  'test/worker/lost-worker.test.ts',
  'test/notify/lost-lease.test.ts',
  'test/jobs/poll-alert-rules.test.ts',
  'test/jobs/snapshot-inventory.test.ts',
  'test/jobs/import-subscribers.test.ts',
  'test/inventory/long-apply.test.ts',
  // Postgres, Redis or the platform gives no answer, until a time-out ends.
  'test/worker/faults.test.ts',
  'test/worker/out-of-reach.test.ts',
  'test/worker/hanging-*.test.ts',
  'test/http/out-of-reach.test.ts',
  'test/http/connections.test.ts',
  // Workers that serve, each a process of its own.
  'test/http/worker-http.test.ts',
  'test/cli/{bin,run-due,sandbox}.test.ts',
  // A browser, and every page of the console in it.
  'test/http/console/browser/*.test.ts',
  // Every link, and every list in each order with each filter.
  'test/http/console/every-link.test.ts',
  'test/{cli,http/console}/lists-oracle.test.ts',
  // All that is said of one account, with other accounts beside it and without.
  'test/**/*-of-one-account.test.ts',
  'test/db/silence.test.ts',
  'test/db/isolation.test.ts',
  'test/cli/connection-errors.test.ts',
  'test/cli/doctor-silent.test.ts',
  'test/cli/worker-and-redis.test.ts',
  // Every command once more, each in a process of its own.
  'test/cli/canary*.test.ts',
  'test/cli/hostile-values.test.ts',
  'test/cli/up.test.ts',
  'test/docs/quick-start.test.ts',
  'test/docs/every-command.test.ts',
  'test/schedules/wrong-clock.test.ts',
  // Limits that open after seconds.
  'test/imports/sending/turns.test.ts',
  // Laws of the inventory and its reports, over hundreds of generated histories, and tables of hundreds of thousands of rows.
  'test/inventory/any-sequence.test.ts',
  'test/inventory/known-rows-law.test.ts',
  'test/inventory/shifting-listings.test.ts',
  'test/reports/oracle.test.ts',
  'test/reports/around-law.test.ts',
  'test/reports/cron-load-law.test.ts',
  'test/inventory/streamed-apply.test.ts',
  'test/**/*-at-size.test.ts',
]

/** Minutes of both processors each. `npm run test:all` begins with them: the last file to begin would run alone in the end. */
export const HEAVY = [
  'test/http/console/browser/every-page.test.ts',
  'test/docs/every-command.test.ts',
  'test/flows/import-chaos*.test.ts',
]

/** Test files at a time in each project. A server of the machine commonly has 100 connections, and a file takes up to 12. */
const WORKERS = process.env.FERRY_TEST_DATABASE_URL ? 4 : 6

export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    pool: 'forks',
    // Each test file has its own databases and mostly waits: many at a time keep two cores busy. Files share processes,
    // because loading the modules anew for each file takes 0.4 s. So a module keeps no state of a test.
    isolate: false,
    maxWorkers: WORKERS,
    // As Node loads it: nothing is transformed, and a module is loaded in less time.
    experimental: { viteModuleRunner: false },
    // Nothing is expected within a time: these end what would never end, on a machine of any speed.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 180_000 } },
    projects: [
      {
        extends: true,
        test: { name: 'quick', include: ['test/**/*.test.ts'], exclude: [...LONG, ...HEAVY] },
      },
      // Before the quick ones, and the heavy ones before both: vitest runs one project after the other, by their names.
      { extends: true, test: { name: 'heavy', include: HEAVY } },
      { extends: true, test: { name: 'long', include: LONG, exclude: HEAVY } },
    ],
  },
})
