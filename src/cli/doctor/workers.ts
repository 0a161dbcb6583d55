import type { Pool } from 'pg'
import { listWorkers, type WorkerRow } from '#src/db/workers.ts'
import type { Ferry } from '#src/ferry.ts'
import { isAnyImportActive } from '#src/imports/reporting/stuck.ts'
import { counted } from '#src/model/counted.ts'
import { loadFreshness } from '#src/reports/freshness.ts'
import { instant } from '../output.ts'
import type { Finding } from './finding.ts'

const CHECK = 'workers'
const START = '`ferry up` or `ferry worker` starts one.'

/** More rows than that are of no help. */
const MAX_WORKERS = 20

/** Yields the workers that fell silent while there is work for them. */
export async function* workerFindings({ pool }: Pick<Ferry, 'pool'>): AsyncGenerator<Finding> {
  const workers = await listWorkers(pool, MAX_WORKERS)
  const alive = workers.filter(({ isAlive }) => isAlive)
  const silent = workers.filter(({ isAlive }) => !isAlive)
  const isDue = await isWorkDue(pool)
  if (isDue) yield* silent.map(silentFinding)
  if (alive.length > 0) {
    const others = !isDue && silent.length > 0 ? `; ${counted(silent.length, 'other')} fell silent today` : ''
    yield { check: CHECK, status: 'ok', found: `${counted(alive.length, 'worker')} alive${others}` }
  } else if (isDue) {
    yield { check: CHECK, status: 'fail', found: 'work is due, and no worker is alive', whatToDo: START }
  } else {
    yield { check: CHECK, status: 'ok', found: `none runs, and no work is due; ${START}` }
  }
}

function silentFinding({ host, pid, seenAt }: WorkerRow): Finding {
  return {
    check: CHECK,
    status: 'warn',
    found: `the worker on ${host}, process ${pid}, has been silent since ${instant(seenAt)}`,
    whatToDo:
      'Look at its log: it may have died, hang, or not reach the database. Other workers take over its work. If it is gone ' +
      'for good, this line disappears a day after it fell silent.',
  }
}

/** Whether an import waits to be sent, or an inventory is later than promised. */
async function isWorkDue(pool: Pool): Promise<boolean> {
  if (await isAnyImportActive(pool)) return true
  return (await loadFreshness(pool)).some(({ state }) => state === 'late')
}
