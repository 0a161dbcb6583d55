import { expect, test } from 'vitest'
import { timelineTable } from '#src/http/console/parts/timeline.ts'
import { cellsOf } from './cells.ts'

const AT = new Date(Date.UTC(2026, 0, 1, 12))
const CHANGE = {
  what: 'change',
  resource: 'mcp-servers',
  change: 'changed',
  at: AT,
  by: null,
  run: 7n,
} as const

/** What a time line shows of one server of which so many tools changed. */
function shownOf(tools: number): string[] {
  const fieldsOf = (description: string) =>
    JSON.stringify({ tools: Array.from({ length: tools }, (_, n) => ({ name: `t${n}`, description })) })
  const change = { ...CHANGE, before: fieldsOf('reads'), after: fieldsOf('writes') }
  const [[when, what, fields = '', by] = []] = cellsOf(
    `${timelineTable({ moments: [change], next: null } as never, 'UTC')}`,
    'Newest first',
  )
  expect([when, what, by]).toEqual(['2026-01-01 12:00:00', 'changed', 'run 7'])
  return fields.split(/(?=tools\.| and \d)/)
}

test('a time line shows forty fields of a change, and says how many more there are', () => {
  const forty = Array.from({ length: 40 }, (_, n) => `tools.t${n}reads → writes`)
  expect(shownOf(40)).toEqual(forty)
  expect(shownOf(41)).toEqual([...forty, ' and 1 more'])
})
