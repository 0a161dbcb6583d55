import type { Ferry } from '#src/ferry.ts'
import { stepsWithoutWorker } from '#src/imports/next-steps.ts'
import { listStuckImports, type StuckImport } from '#src/imports/reporting/stuck.ts'
import { listWaitingRows, type SummaryRow } from '#src/imports/reporting/summary.ts'
import { nextInWords, waitsFor } from '#src/imports/reporting/waits-for.ts'
import { counted } from '#src/model/counted.ts'
import { stepsInWords } from '#src/model/next-step.ts'
import { EXIT } from '../exit.ts'
import { duration } from '../output.ts'
import type { Finding } from './finding.ts'

const CHECK = 'imports'

/** So many imports are named of each kind. */
const MAX_NAMED = 10

/** Yields the imports that wait for a person, and those that should go on by themselves and do not. */
export async function* importFindings({ pool }: Pick<Ferry, 'pool'>): AsyncGenerator<Finding> {
  const waiting = await listWaitingRows(pool, MAX_NAMED + 1)
  const stuck = await listStuckImports(pool, MAX_NAMED + 1)
  yield* waiting.slice(0, MAX_NAMED).map(waitingFinding)
  yield* stuck.slice(0, MAX_NAMED).map(stuckFinding)
  if (waiting.length > MAX_NAMED || stuck.length > MAX_NAMED) {
    yield {
      check: CHECK,
      status: 'warn',
      found: `there are more: the first ${MAX_NAMED} of each kind are named`,
      whatToDo: '`ferry imports list --limit 1000` shows every import with its status.',
    }
  }
  if (waiting.length + stuck.length === 0) {
    yield { check: CHECK, status: 'ok', found: 'no import waits for a person, and none is stuck' }
  }
}

function waitingFinding(row: SummaryRow): Finding {
  const why = waitsFor(row)?.why ?? ''
  const advice = row.status === 'paused' ? row.pause_what_to_do : null
  return {
    check: CHECK,
    status: 'warn',
    found: `import ${row.id} of account ${row.account} is ${row.status}: ${why}`,
    whatToDo: [advice, nextInWords(row)].filter(Boolean).join(' '),
    exit: EXIT.undecided,
  }
}

function stuckFinding({ id, account, why, failures, idleMs, pending }: StuckImport): Finding {
  const which = `import ${id} of account ${account} (${counted(pending, 'row')} left)`
  const watch = { command: `ferry imports watch ${id}`, does: 'says what it waits for' }
  const show = { command: `ferry imports show ${id}`, does: 'lists its calls' }
  switch (why) {
    case 'no worker':
      return {
        check: CHECK,
        status: 'fail',
        found: `${which}: no live worker has this account`,
        whatToDo: stepsInWords(stepsWithoutWorker(id)),
      }
    case 'no progress':
      return {
        check: CHECK,
        status: 'fail',
        found: `${which}: no row was sent for ${duration(idleMs)}`,
        whatToDo: stepsInWords([watch, show]),
      }
    case 'calls fail':
      return {
        check: CHECK,
        status: 'warn',
        found: `${which}: its last ${counted(failures, 'call')} failed; it is tried again by itself`,
        whatToDo: stepsInWords([show]),
      }
  }
}
