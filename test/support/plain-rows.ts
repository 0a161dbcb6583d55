import { expect } from 'vitest'
import { copyField } from '#src/db/copy.ts'
import { ALERT_RULE_VERSIONS } from '#src/inventory/versioned-tables.ts'
import { ALERT_RULE, type AlertRule } from '#src/model/alert-rule.ts'
import type { AnyRow } from '#src/model/fields.ts'
import { canonicalAlertRule, fingerprint } from '#src/model/fingerprint.ts'
import { openDrift, type RawRow } from '#src/platform/declared.ts'
import { stringifyLossless } from '#src/platform/lossless-json.ts'
import { PlainRows } from '#src/platform/plain-row.ts'
import { parseRow } from '#src/platform/read-rows.ts'
import { ALERT_RULES } from '#src/platform/row-kinds.ts'
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
    const columns = ALERT_RULE_VERSIONS.columns.map(column =>
      copyField(ALERT_RULE_VERSIONS.textOf(row, column)),
    )
    expect(columnsIn(read.written.columns())).toEqual(columnsIn(`\t${columns.join('\t')}`, 'utf8'))
    expect(read.written.fingerprint).toBe(fingerprint(canonicalAlertRule(row)))
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

/** The columns as Postgres reads them: the order of labels says nothing, and of two the last counts. */
function columnsIn(copied: string, encoding: 'latin1' | 'utf8' = 'latin1'): unknown[] {
  const [before, ...columns] = Buffer.from(copied, encoding).toString().split('\t')
  expect(before).toBe('')
  const labels = ALERT_RULE_VERSIONS.columns.indexOf('labels')
  return columns.map((column, n) => (n === labels && column !== '\\N' ? JSON.parse(column) : column))
}
