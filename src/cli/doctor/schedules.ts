import type { Ferry } from '#src/ferry.ts'
import { EVERY_ACCOUNT } from '#src/schedules/definition.ts'
import { loadSchedules } from '../schedules.ts'
import type { Finding } from './finding.ts'

const CHECK = 'schedules'

/** Yields the schedules that are paused: nothing of them is done until somebody resumes them. */
export async function* scheduleFindings(ferry: Ferry): AsyncGenerator<Finding> {
  const paused = (await loadSchedules(ferry)).filter(schedule => schedule.paused)
  for (const { name, account } of paused) {
    const isOfAll = account === EVERY_ACCOUNT
    yield {
      check: CHECK,
      status: 'warn',
      found: `${name}${isOfAll ? '' : ` of account ${account}`} is paused`,
      whatToDo:
        `\`ferry schedules resume ${name}${isOfAll ? '' : ` --account ${account}`}\` runs it again; ` +
        '`ferry audit --action pause` says who paused it, and why.',
    }
  }
  if (paused.length === 0) yield { check: CHECK, status: 'ok', found: 'none is paused' }
}
