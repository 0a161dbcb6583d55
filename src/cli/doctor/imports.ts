import type { Config } from '#src/config.ts'
import type { Ferry } from '#src/ferry.ts'
import { stepsWithoutWorker } from '#src/imports/next-steps.ts'
import { listStuckImports, type StuckImport } from '#src/imports/reporting/stuck.ts'
import type { SummaryRow } from '#src/imports/reporting/summary.ts'
import { listWaitingRows, nextInWords, waitsFor } from '#src/imports/reporting/waits-for.ts'
import { counted } from '#src/model/counted.ts'
import { duration } from '#src/model/duration.ts'
import { stepsInWords } from '#src/model/next-step.ts'
import { isConfigured } from '../accounts.ts'
import { EXIT } from '../exit.ts'
import { SANDBOX } from '../sandbox-note.ts'
import type { Finding } from './finding.ts'

const CHECK = 'imports'

/** At most this many imports of each kind are named. */
const MAX_NAMED = 10

/** Yields the imports that wait for a person, and those that should proceed without one but do not. */
export async function* importFindings({
  pool,
  config,
}: Pick<Ferry, 'pool' | 'config'>): AsyncGenerator<Finding> {
  const waiting = await listWaitingRows(pool, MAX_NAMED + 1)
  const stuck = await listStuckImports(pool, MAX_NAMED + 1)
  yield* waiting.slice(0, MAX_NAMED).map(waitingFinding)
  yield* stuck.slice(0, MAX_NAMED).map(one => stuckFinding(one, config))
  if (waiting.length > MAX_NAMED || stuck.length > MAX_NAMED) {
    yield {
      check: CHECK,
      status: 'warn',
      found: `more imports need attention; the first ${MAX_NAMED} of each kind are named`,
      whatToDo: '`ferry imports list --limit 1000` shows every import with its status.',
    }
  }
  if (waiting.length + stuck.length === 0) {
    yield { check: CHECK, status: 'ok', found: 'no import is waiting for a person, and none is stuck' }
  }
}

function waitingFinding(row: SummaryRow): Finding {
  const why = waitsFor(row)?.why ?? ''
  const advice = row.status === 'paused' ? row.pauseWhatToDo : null
  return {
    check: CHECK,
    status: 'warn',
    found: `import ${row.id} of account ${row.account} is ${row.status}: ${why}`,
    whatToDo: [advice, nextInWords(row)].filter(Boolean).join(' '),
    exit: EXIT.undecided,
  }
}

function stuckFinding(
  { id, account, why, failures, idleMs, pending }: StuckImport,
  config: Pick<Config, 'accounts'>,
): Finding {
  const which = `import ${id} of account ${account} (${counted(pending, 'row')} left)`
  const watch = { command: `ferry imports watch ${id}`, does: 'shows what it is waiting for' }
  const show = { command: `ferry imports show ${id}`, does: 'lists its calls' }
  switch (why) {
    case 'no worker':
      return {
        check: CHECK,
        status: 'fail',
        found: `${which}: no worker is processing it`,
        whatToDo: isConfigured(config, account)
          ? stepsInWords(stepsWithoutWorker(id))
          : `${whoHas(account, config)}, or \`ferry imports cancel ${id}\` ends it.`,
      }
    case 'no progress':
      return {
        check: CHECK,
        status: 'fail',
        found: `${which}: no row has been sent for ${duration(idleMs)}`,
        whatToDo: stepsInWords([watch, show]),
      }
    case 'calls fail':
      return {
        check: CHECK,
        status: 'warn',
        found: `${which}: its last ${counted(failures, 'call')} failed; Ferry keeps retrying`,
        whatToDo: stepsInWords([show]),
      }
  }
}

function whoHas(account: string, { accounts }: Pick<Config, 'accounts'>): string {
  if (account === SANDBOX && accounts.length === 0) return 'Start its sandbox, and a worker, with `ferry up`'
  return `Account ${account} is not in the settings here. Start a worker that has it`
}
