import { type Pool, type QueryArrayConfig, type QueryArrayResult, types } from 'pg'
import { DAY_MS } from '#src/model/duration.ts'
import type { Report, ReportArguments } from './report.ts'

/** A duration, in milliseconds. */
export type Interval = { readonly intervalMs: number }

/** A JSON document as Postgres wrote it: its numbers are exact. */
export type JsonText = { readonly json: string }

export type ReportCell =
  | string
  | number
  | bigint
  | boolean
  | Date
  | readonly (string | null)[]
  | Interval
  | JsonText
  | null

export type ReportRows = {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly ReportCell[])[]
}

/** Runs a report. Arguments go to Postgres as parameters, never as text of the query. */
export async function runReport(pool: Pool, report: Report, given: ReportArguments): Promise<ReportRows> {
  const { query: text, takes }: Pick<Report, 'query' | 'takes'> =
    given.night !== undefined && report.ofNight !== undefined
      ? { query: report.ofNight, takes: ['account', 'night'] }
      : report
  const query: QueryArrayConfig = {
    text,
    values: takes.map(option => given[option] ?? null),
    rowMode: 'array',
    types: { getTypeParser },
  }
  // The pool of `openDatabase` passes its arguments on, whatever they are.
  const { fields, rows } = (await pool.query(query)) as QueryArrayResult<ReportCell[]>
  return { columns: fields.map(field => field.name), rows }
}

const { builtins } = types

/** Reads the types that reports use. Ids keep all their digits, and a date stays a date. */
function getTypeParser(oid: number, format?: 'text' | 'binary'): (text: string) => unknown {
  switch (oid) {
    case builtins.INT8:
    case builtins.NUMERIC:
      return text => (/^-?\d+$/.test(text) ? BigInt(text) : text)
    case builtins.DATE:
      return text => text
    case builtins.INTERVAL:
      return text => ({ intervalMs: msOf(types.getTypeParser(oid, 'text')(text)) })
    case builtins.JSON:
    case builtins.JSONB:
      return text => ({ json: text })
    case INT8_ARRAY:
    case NUMERIC_ARRAY:
      return types.getTypeParser(TEXT_ARRAY as number, 'text')
    default:
      return types.getTypeParser(oid, format as 'text')
  }
}

const TEXT_ARRAY = 1009
const INT8_ARRAY = 1016
const NUMERIC_ARRAY = 1231

type Parts = {
  readonly [Unit in 'years' | 'months' | 'days' | 'hours' | 'minutes' | 'seconds' | 'milliseconds']?: number
}

/** The parts are all negative for a negative interval. A month counts as 30 days, as in Postgres's own `extract(epoch …)`. */
function msOf(interval: Parts): number {
  const { years = 0, months = 0, days = 0, hours = 0, minutes = 0, seconds = 0, milliseconds = 0 } = interval
  const dayMs = (years * 365.25 + months * 30 + days) * DAY_MS
  return dayMs + hours * 3_600_000 + minutes * 60_000 + seconds * 1_000 + milliseconds
}
