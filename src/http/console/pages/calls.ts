import { ACCOUNT_OF_PAGE, type Asked, isNarrowedBy, lasting, list, SINCE_AND_UNTIL } from '#src/db/list.ts'
import { type ListedCall, listCallLog } from '#src/db/list-calls.ts'
import { importsOfBatches } from '#src/imports/reporting/batches.ts'
import { type Html, html } from '../html.ts'
import { MAX_ID } from '../page.ts'
import { callColumns } from '../parts/calls.ts'
import { listPage } from '../parts/list-page.ts'
import { runLink } from '../parts/runs.ts'
import { ledgerTabs } from '../parts/tabs.ts'
import { foreign } from '../parts/values.ts'

const PATH = '/ledger/calls'

/** Every call to the platform, the newest first. */
function callListOf(operations: readonly string[]) {
  return list({
    caption: 'Calls, newest first',
    filters: {
      request_id: { kind: 'text', label: 'Request id', hint: 'the whole id' },
      account: ACCOUNT_OF_PAGE,
      operation: { kind: 'choice', values: operations, isOpen: true, label: 'Operation' },
      refused: {
        kind: 'choice',
        values: ['yes'],
        words: { yes: 'refused or not answered' },
        label: 'Outcome',
      },
      ...SINCE_AND_UNTIL,
      run: { kind: 'id', of: 'a run', label: 'Run', hint: 'its number', max: MAX_ID },
    },
    order: ['instant or null', 'id'],
    async load(pool, { filter: { request_id, refused, ...filter }, after, limit }) {
      const wanted = { ...filter, refused: refused === 'yes', requestId: request_id?.trim() }
      const place = after && { startedExactly: after[0], call: after[1] }
      const { calls: rows, next } = await listCallLog(pool, limit, wanted, place)
      return { rows, next: next && [next.startedExactly, next.call] }
    },
    columns: {
      started: call => call.started,
      account: call => call.account,
      operation: call => call.operation,
      took: call => lasting(call.started, call.finished),
      http: call => call.httpStatus,
      error: call => call.errorCode,
      'request id': call => call.requestId,
      run: call => call.run,
      batch: call => call.batch,
    },
    none: 'Ferry has not called the platform yet. `ferry sync all` makes the first calls.',
    noneMatches: 'No call matches.',
  })
}

export const calls = listPage({
  path: PATH,
  section: 'ledger',
  title: 'Calls',
  list: ({ target: { limits } }) => callListOf([...new Set(limits.map(({ operation }) => operation))]),
  async beside({ reader, target: { timezone } }, { rows, next, filter }) {
    const imports = await importsOfBatches(
      reader,
      rows.flatMap(({ batch }) => batch ?? []),
    )
    const [started, ...rest] = callColumns(timezone)
    return {
      above: ledgerTabs(PATH),
      between:
        filter.run === undefined
          ? null
          : html`<p class="notice">These are calls of run ${runLink(`${filter.run}`)}. <a href="${PATH}">Show all calls</a></p>`,
      columns: [
        ...(started ? [started] : []),
        'account',
        ...rest,
        { head: 'For', cell: call => purposeOf(call, imports) },
      ],
      empty: next ? NOT_ALL_LOOKED_AT : emptyOf(filter),
    }
  },
})

/** What the call was made for. */
function purposeOf({ run, batch }: ListedCall, imports: ReadonlyMap<string, string>): Html | string {
  if (run !== null) return runLink(run, `run ${run}`)
  if (batch === null) return foreign(null)
  const id = imports.get(batch)
  return id === undefined ? `batch ${batch}` : html`<a href="/imports/${id}">import ${id}</a>, batch ${batch}`
}

const NOT_ALL_LOOKED_AT = html`No match among the calls scanned for this page. The next page scans older ones. Set a time to narrow the search.`

function emptyOf({
  request_id,
  refused,
  ...others
}: Asked<ReturnType<typeof callListOf>['filters']>): Html | null {
  if (request_id !== undefined) {
    return html`No call has this request id. Ferry logs only its own calls, and removes them after <code>FERRY_KEEP_CALLS</code>.`
  }
  if (refused && !isNarrowedBy(others)) return html`No refused calls.`
  const { run, since, until } = others
  if (run === undefined && since === undefined && until === undefined) return null
  return html`No call matches. Ferry removes calls after <code>FERRY_KEEP_CALLS</code>, but for those of imports. <a href="${PATH}">Show all calls</a>`
}
