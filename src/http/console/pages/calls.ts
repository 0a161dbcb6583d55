import { z } from 'zod'
import { type CallFilter, type ListedCall, listCallLog } from '#src/db/list-calls.ts'
import { importsOfBatches } from '#src/imports/reporting/batches.ts'
import { type Html, html } from '../html.ts'
import { idOf, type Page } from '../page.ts'
import { accountFilter, choicesOf } from '../parts/account-filter.ts'
import { callColumns } from '../parts/calls.ts'
import { type Filter, filters, sinceAndUntil } from '../parts/filters.ts'
import { parsedSpan, zoneOf } from '../parts/instants.ts'
import { ledgerTabs } from '../parts/ledger-tabs.ts'
import { CursorId, CursorInstant, PAGE_ROWS, pager, readCursor, writeCursor } from '../parts/paging.ts'
import { runLink } from '../parts/runs.ts'
import { type Column, table } from '../parts/table.ts'
import { foreign } from '../parts/values.ts'

const PATH = '/ledger/calls'

/** Every call to the platform, the newest first. */
export const calls: Page = {
  path: PATH,
  section: 'ledger',
  access: 'read',
  async render({ query, reader, target: { accounts, limits, timezone } }) {
    const zone = zoneOf(query, timezone)
    const filter = filterFrom(query, zone)
    const place = readCursor(query, z.tuple([CursorInstant.nullable(), CursorId]))
    const after = place && { startedExactly: place[0], call: place[1] }
    const { calls: shown, next } = await listCallLog(reader, PAGE_ROWS, filter, after)
    const imports = await importsOfBatches(
      reader,
      shown.flatMap(({ batch }) => batch ?? []),
    )
    const operations = [...new Set(limits.map(({ operation }) => operation))]
    const body = html`${ledgerTabs(PATH)}
${filters(PATH, query, fields(accountFilter(accounts, query), operations, zone))}
${filter.run === undefined ? null : html`<p class="notice">These are calls of run ${runLink(filter.run)}. <a href="${PATH}">Show all calls</a></p>`}
${table('Calls, the newest first', columns(timezone, imports), shown, next ? NOT_ALL_LOOKED_AT : emptyOf(filter))}
${pager(PATH, query, next && writeCursor([next.startedExactly, next.call]))}`
    return { title: 'Ledger: calls', body }
  },
}

function filterFrom(query: URLSearchParams, zone: string): CallFilter {
  const { request_id, refused, ...rest } = parsedSpan(
    query,
    zone,
    z.object({
      account: z.string().optional(),
      operation: z.string().optional(),
      refused: z.enum(['yes']).optional(),
      request_id: z.string().trim().optional(),
      run: z
        .string()
        .transform((text, context) => {
          const id = idOf(text)
          if (id === null) context.addIssue({ code: 'custom', message: 'write the number of a run' })
          return id ?? z.NEVER
        })
        .optional(),
    }),
  )
  return { ...rest, refused: refused === 'yes', requestId: request_id }
}

function fields(account: Filter, operations: readonly string[], zone: string): readonly Filter[] {
  return [
    { name: 'request_id', label: 'Request id', kind: 'text', hint: 'the whole id' },
    account,
    { name: 'operation', label: 'Operation', kind: 'choice', choices: choicesOf(operations) },
    {
      name: 'refused',
      label: 'Outcome',
      kind: 'choice',
      choices: { yes: 'refused or not answered' },
    },
    ...sinceAndUntil(zone),
  ]
}

function columns(timezone: string, imports: ReadonlyMap<string, string>): readonly Column<ListedCall>[] {
  const [started, ...rest] = callColumns(timezone)
  return [
    ...(started ? [started] : []),
    { head: 'Account', cell: ({ account }) => foreign(account) },
    ...rest,
    { head: 'For', cell: call => purposeOf(call, imports) },
  ]
}

/** What the call was made for. */
function purposeOf({ run, batch }: ListedCall, imports: ReadonlyMap<string, string>): Html | string {
  if (run !== null) return runLink(run, `run ${run}`)
  if (batch === null) return foreign(null)
  const id = imports.get(batch)
  return id === undefined ? `batch ${batch}` : html`<a href="/imports/${id}">import ${id}</a>, batch ${batch}`
}

const NOT_ALL_LOOKED_AT = html`None among the calls that this page looked at. The next page looks at older ones. A time narrows the search.`

function emptyOf({ requestId, refused, account, operation, since, until, run }: CallFilter): Html {
  if (requestId !== undefined) {
    return html`No call had this request id. Ferry logs the ids of its own calls only, and removes old calls as <code>FERRY_KEEP_CALLS</code> says.`
  }
  const isNarrowed = [account, operation, since, until, run].some(filter => filter !== undefined)
  if (refused && !isNarrowed) return html`The platform has refused no call.`
  if (isNarrowed) return html`No call matches.`
  return html`Ferry has called the platform for nothing yet. <code>ferry sync all</code> makes the first calls.`
}
