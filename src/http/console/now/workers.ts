import type { WorkerRow } from '#src/db/workers.ts'
import { counted } from '#src/model/counted.ts'
import type { Work } from '#src/reports/now.ts'
import { EVERY_ACCOUNT } from '#src/schedules/definition.ts'
import { type Html, type HtmlValue, html } from '../html.ts'
import { runLink } from '../parts/runs.ts'
import { atMost, table, wrongFirst } from '../parts/table.ts'
import { ago, badge, foreign } from '../parts/values.ts'
import { MAX_SHOWN, type NowFacts } from './load-now.ts'

type Row = { readonly holder: string; readonly worker: WorkerRow | null; readonly work: readonly Work[] }

/** Which workers are alive, and what each is doing. Commands that work in their own process are shown too. */
export function workers({ workers, work }: NowFacts, timezone: string): Html {
  const byHolder = Map.groupBy(work, ({ holder }) => holder)
  const known = new Set(workers.map(({ holder }) => holder))
  const rows: Row[] = [
    ...workers.map(worker => ({ holder: worker.holder, worker, work: byHolder.get(worker.holder) ?? [] })),
    ...[...byHolder].flatMap(([holder, its]) =>
      known.has(holder) ? [] : [{ holder, worker: null, work: its }],
    ),
  ]
  const isWrong = ({ worker }: Row) => worker !== null && !worker.isAlive
  return wrongFirst('workers', rows, { isWrong, others: aliveInWords }, some =>
    atMost(MAX_SHOWN, some, shown => workerTable(shown, timezone)),
  )
}

function aliveInWords(rows: readonly Row[]): string {
  const commands = rows.filter(({ worker }) => worker === null).length
  const busy = rows.filter(({ work }) => work.length > 0).length
  const words = [
    rows.length > commands ? `${counted(rows.length - commands, 'worker')} alive` : '',
    commands > 0 ? counted(commands, 'command') : '',
    busy > 0 ? `${busy} busy` : '',
  ]
  return words.filter(Boolean).join(', ')
}

function workerTable(rows: readonly Row[], timezone: string): Html {
  return table<Row>(
    'Workers',
    [
      { head: 'Host', cell: ({ worker, holder }) => foreign(worker?.host ?? holder) },
      { head: 'Process', isNumber: true, cell: ({ worker }) => worker?.pid },
      { head: 'State', cell: stateOf },
      { head: 'Doing', cell: ({ work: its }) => doing(its) },
      { head: 'Last seen', cell: ({ worker }) => (worker ? ago(worker.seenAt, timezone) : null) },
      { head: 'Started', cell: ({ worker }) => (worker ? ago(worker.startedAt, timezone) : null) },
      { head: 'Version', cell: ({ worker }) => worker?.version },
    ],
    rows,
    html`No worker is known. <code>ferry up</code> or <code>ferry worker</code> starts one.`,
  )
}

function stateOf({ worker, holder }: Row): Html {
  if (worker === null) return badge('quiet', 'command')
  return worker.isAlive
    ? badge('good', 'alive', `Worker ${holder}`)
    : badge('warn', 'silent', `Worker ${holder}`)
}

/** A schedule is left out if the run that it started is shown. */
function doing(work: readonly Work[]): HtmlValue {
  const isRun = (schedule: Work) =>
    work.some(({ kind, account }) => kind === 'run' && account === schedule.account)
  const shown = work.filter(one => one.kind !== 'schedule' || !isRun(one))
  if (shown.length === 0) return html`<span class="none">idle</span>`
  return html`<ul class="plain">${shown.map(one => html`<li>${inWords(one)}</li>`)}</ul>`
}

function inWords({ kind, account, name, number }: Work): Html {
  switch (kind) {
    case 'run':
      return html`reading ${name} of ${foreign(account)} (${number === null ? null : runLink(number, `run ${number}`)})`
    case 'import':
      return html`sending <a href="/imports/${number}">import ${number}</a> of ${foreign(account)}`
    case 'schedule':
      return html`<code>${name}</code>${account === EVERY_ACCOUNT ? null : html` of ${foreign(account)}`}`
  }
}
