import { expect } from 'vitest'
import { ALERT_RULE, type AlertRule } from '#src/model/alert-rule.ts'
import { type AnyRow, definitionOf } from '#src/model/fields.ts'
import { openDrift, type RawRow } from '#src/platform/declared.ts'
import { stringifyLossless } from '#src/platform/lossless-json.ts'
import { PlainRows } from '#src/platform/plain-row.ts'
import { parseRow } from '#src/platform/read-rows.ts'
import { ALERT_RULES } from '#src/platform/row-kinds.ts'
import { rowWriter } from '#src/platform/written-row.ts'
import { alertRuleWire } from './wire.ts'

function parsed(text: Buffer) {
  const read = parseRow(ALERT_RULES, text)
  return read !== null && 'row' in read ? read : null
}

/** What reads plain rows once it has met these, and the undeclared fields that are known by then. */
export function readerAfter(...rows: readonly RawRow[]) {
  const plain = new PlainRows<AlertRule>(ALERT_RULE, ALERT_RULES.plain!, text => parsed(text)!.row as AnyRow)
  const drift = openDrift(ALERT_RULES.declared)
  for (const row of rows) {
    const read = parsed(Buffer.from(stringifyLossless(row)))
    if (read === null) continue
    drift.look(read.raw)
    plain.learn(read.raw as RawRow)
  }
  return { plain, drift }
}

/** Whether it is read as a plain row. If it is, it is what the parser makes of it, whether all of it is read at once or not. */
export function agrees({ plain, drift }: ReturnType<typeof readerAfter>, bytes: Buffer): boolean {
  const reads = [plain.read(bytes, true), plain.read(bytes, false)]
  plain.read(Buffer.from(JSON.stringify(alertRuleWire({ id: 2, timezone: 'UTC' }))), false) // what is read on demand is not of the last row
  const other = parsed(bytes)
  for (const read of reads) {
    if (read === null) continue
    if (other === null) throw new Error(`only as a plain row is read: ${bytes}`)
    const { row, id } = other
    for (const name of Object.keys(row) as (keyof AlertRule)[])
      expect(read.row[name]).toStrictEqual(row[name])
    expect([read.id, []]).toEqual([`${id}`, other.altered])
    const written = WRITE(row)
    expect(columnsIn(read.written.columns())).toEqual(columnsIn(written.columns()))
    expect(read.written.fingerprint).toBe(written.fingerprint)
  }
  if (other === null || reads.includes(null)) {
    expect(reads).toEqual([null, null])
    return false
  }
  const before = drift.found()
  drift.look(other.raw)
  expect(drift.found()).toEqual(before)
  return true
}

const WRITE = rowWriter(ALERT_RULE)
const LABELS = definitionOf(ALERT_RULE.fields).indexOf('labels')

/** The columns as Postgres reads them: the order of labels says nothing, and of two the last counts. */
function columnsIn(copied: string): unknown[] {
  const bytes = Buffer.from(copied, 'latin1')
  const columns: unknown[] = []
  for (let at = 0; at < bytes.length; ) {
    const length = bytes.readInt32BE(at)
    at += 4
    const value = length === -1 ? null : bytes.subarray(at, at + length)
    columns.push(columns.length === LABELS && value ? [value[0], JSON.parse(`${value.subarray(1)}`)] : value)
    at += Math.max(length, 0)
  }
  return columns
}
