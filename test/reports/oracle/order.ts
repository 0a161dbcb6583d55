import { expect } from 'vitest'
import type { Row } from './alert-models.ts'

/** By which columns a report's rows are ordered; -: the largest first. */
const ORDER: Readonly<Record<string, string>> = {
  rules_never_fired: '-days_observed id account',
  rules_switched_off: '-since account id',
  rules_debug_left_on: 'since account id',
  time_to_clear: 'account team',
  rules_noisy: '-episodes',
  rules_longest_firing: '-fired_for',
  silenced: '-at account id',
  churn_by_folder: '-changes account folder_id',
  mcp_tool_changes: '-observed_at account server_id tool',
  rules_by_folder: '-rules account folder_id',
  rules_by_team: '-rules account team',
  rules_unowned: 'account folder_id name id',
  mcp_tools: 'account tool server_name server_id',
  mcp_by_team: '-servers account team_id',
  blind_spots: '-from account inventory',
  freshness_daily: '-day account inventory',
  nights: '-night account',
}

/** The rows of a report, of each the columns that were asked for, are in its order. */
export function expectOrder(report: string, columns: string, rows: readonly Row[]) {
  const names = columns.split(' ')
  const keys = (ORDER[report] ?? '').split(' ').filter(key => key !== '')
  const inOrder = rows.toSorted((a, b) => {
    for (const key of keys) {
      const at = names.indexOf(key.replace('-', ''))
      const order = compareCells(a[at], b[at])
      if (order !== 0) return key.startsWith('-') ? -order : order
    }
    return 0
  })
  expect(rows, `the order of ${report}`).toEqual(inOrder)
}

/** As Postgres does with `collate "C"`; null is last. */
function compareCells(a: unknown, b: unknown): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null)
  const [left, right] = [a, b].map(cell => (isInterval(cell) ? cell.intervalMs : cell)) as [number, number]
  return left < right ? -1 : Number(left > right)
}

export const isInterval = (cell: unknown): cell is { intervalMs: number } =>
  typeof cell === 'object' && cell !== null && 'intervalMs' in cell
