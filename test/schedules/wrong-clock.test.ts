import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { readClock } from '#src/db/clock.ts'
import { listRuns } from '#src/inventory/runs/list-runs.ts'
import { openTestRedis } from '#test/support/redis.ts'
import { listSlots } from '#test/support/slots.ts'
import { waitFor } from '#test/support/wait-for.ts'
import { openCli } from '../cli/open-cli.ts'
import { startFerry } from '../cli/run-ferry.ts'
import { BACKENDS } from '../worker/queue-harness.ts'

const SHIFT = fileURLToPath(new URL('../support/shift-clock.ts', import.meta.url))
const HOUR = 3_600_000

describe.concurrent.each(BACKENDS)('a worker whose clock is wrong, on %s,', kind => {
  test.for([
    ['an hour fast', HOUR, /clock is 3600 s ahead of the database's/g],
    ['an hour slow', -HOUR, /clock is 3600 s behind the database's/g],
  ] as const)(
    'does what is due, takes no slot of another time, and logs it: %s',
    async ([, aheadMs, said]) => {
      await using cli = await openCli({ rules: 3, servers: 1 })
      await using redis = kind === 'redis' ? await openTestRedis() : null
      const env = { ...cli.env, FERRY_POLL_EVERY: '2s', ...(redis && { REDIS_URL: redis.url }) }
      const shifted = { ...env, FERRY_TEST_CLOCK_AHEAD_MS: `${aheadMs}` }
      const polls = async () => {
        const runs = await listRuns(cli.ferry.pool, 99, { resource: 'alert-rules', status: 'succeeded' })
        return runs.filter(run => run.trigger === 'schedule').length
      }
      const strangeSlots = async () => {
        const slots = await listSlots(cli.ferry.pool)
        const { now } = await readClock(cli.ferry.pool)
        // The last slot of MCP servers may be fifteen minutes old.
        return slots.filter(({ slot }) => slot > now || slot < new Date(now.getTime() - 20 * 60_000))
      }

      await using wrong = startFerry(['worker'], shifted, ['--import', SHIFT])
      await waitFor(async () => (await polls()) >= 4, { what: 'four polls' })
      expect(await strangeSlots()).toEqual([])
      expect(wrong.output.stderr.match(said)).toHaveLength(1)
      wrong.child.kill('SIGTERM')
      expect((await wrong.ended).code).toBe(0)

      const before = await polls()
      await using right = startFerry(['worker'], env)
      await waitFor(async () => (await polls()) >= before + 3, {
        what: 'three more polls',
      })
      expect(right.output.stderr).not.toContain('clock')
      right.child.kill('SIGTERM')
      expect((await right.ended).code).toBe(0)
    },
  )
})
