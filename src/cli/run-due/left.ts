import type { Ferry } from '#src/ferry.ts'
import { counted } from '#src/model/counted.ts'
import { duration } from '#src/model/duration.ts'
import { isActive } from '#src/model/import.ts'
import type { DueLeft } from '#src/worker/run-due.ts'
import { EXIT, type ExitCode } from '../exit.ts'
import { exitCodeOf } from '../import/result.ts'
import { harmless } from '../output.ts'

/** Something that is not done, in words, and the exit code that it stands for. */
export type Left = {
  readonly left: 'schedule' | 'import' | 'removals' | 'messages'
  readonly account: string | null
  /** The schedule, or the number of the import or run. */
  readonly name: string | null
  readonly text: string
  readonly exit: ExitCode
}

/** At most so many of a kind are named. */
const MAX_NAMED = 100

/** Lists what is left. What another process does is named, and is no reason for another exit code. */
export async function listLeft(ferry: Ferry, left: DueLeft): Promise<Left[]> {
  return [
    ...schedulesLeft(left),
    ...(await importsLeft(ferry, left)),
    ...(await removalsLeft(ferry)),
    ...(await messagesLeft(ferry)),
  ]
}

function schedulesLeft({ due, later }: DueLeft): Left[] {
  const named = ({
    schedule: { schedule: name, account },
  }: (typeof later)[number] | (typeof due)[number]) => {
    return { left: 'schedule', account, name } as const
  }
  return [
    ...due.map(one => ({
      ...named(one),
      text: `${one.schedule.schedule} of account ${one.schedule.account} is due`,
      exit: EXIT.partial,
    })),
    ...later.map(one => ({
      ...named(one),
      text: `${one.schedule.schedule} of account ${one.schedule.account} is under way elsewhere, or is tried again in ${duration(one.freeInMs)}`,
      exit: EXIT.done,
    })),
  ].map(one => ({ ...one, text: harmless(one.text) }))
}

async function importsLeft({ pool, accounts }: Ferry, { imports }: DueLeft): Promise<Left[]> {
  const { listSummaryRows, pauseReportOf, summaryOf } = await import('#src/imports/reporting/summary.ts')
  const { listWaitingRows, nextInWords } = await import('#src/imports/reporting/waits-for.ts')
  const active = [
    ...(await listSummaryRows(pool, MAX_NAMED, { status: 'queued' })),
    ...(await listSummaryRows(pool, MAX_NAMED, { status: 'running' })),
  ]
  const ours = [...active, ...(await listWaitingRows(pool, MAX_NAMED))].filter(({ account }) =>
    accounts.has(account),
  )
  return ours.map(row => {
    const isFree = imports.includes(BigInt(row.id))
    const pause = pauseReportOf(row)
    const outcome = { summary: summaryOf(row), pause: pause && { ...pause, platformMessage: null } }
    const what = isActive(row.status)
      ? `${counted(row.pending, 'row')} to go${isFree ? '' : '; it waits for an older import of its page, or another process sends it'}`
      : nextInWords(row)
    return {
      left: 'import',
      account: row.account,
      name: row.id,
      text: harmless(`import ${row.id} of account ${row.account} is ${row.status}: ${what}`),
      exit: isFree ? EXIT.partial : exitCodeOf(outcome),
    }
  })
}

async function removalsLeft({ pool, accounts }: Ferry): Promise<Left[]> {
  const { listHolds } = await import('#src/inventory/holds/list-holds.ts')
  const holds = await listHolds(pool, 'open', MAX_NAMED)
  return holds
    .filter(({ account }) => accounts.has(account))
    .map(({ account, resource, lastRun, rows }) => ({
      left: 'removals',
      account,
      name: `${lastRun}`,
      text: harmless(
        `the removal of ${rows} ${resource} of account ${account} waits for a decision: \`ferry runs show ${lastRun}\``,
      ),
      exit: EXIT.undecided,
    }))
}

async function messagesLeft({ pool, config }: Ferry): Promise<Left[]> {
  const { countUndelivered, undeliveredInWords } = await import('#src/notify/list-events.ts')
  const receivers = config.notify.receivers.map(({ name }) => name)
  if (receivers.length === 0) return []
  const undelivered = await countUndelivered(pool, receivers)
  const text = undeliveredInWords(undelivered.map(one => ({ ...one, dead: 0 })))
  if (text === null) return []
  return [
    {
      left: 'messages',
      account: null,
      name: null,
      text: `${text}: \`ferry notify list --undelivered\``,
      exit: EXIT.partial,
    },
  ]
}
