import { expect, test } from 'vitest'
import type { McpServer } from '#src/model/mcp-server.ts'
import type { ListedRow, ListingStep } from '#src/platform/listing.ts'
import { listMcpServers } from '#src/platform/mcp-listing.ts'
import { openMcpList, server } from '#test/support/mcp-list.ts'

const context = { runId: null, signal: new AbortController().signal }
const ask = { limit: 2, includeAccount: true }

/** The steps in words, each with how many pages had been asked for by then. */
async function stepsOf(list: ReturnType<typeof openMcpList>): Promise<string[]> {
  const steps: string[] = []
  for await (const step of listMcpServers(list, ask, () => false, context)) {
    steps.push(`${list.asked.length} ${wordsOf(step)}`)
  }
  return steps
}

function wordsOf(step: ListingStep<McpServer>): string {
  if (step.kind === 'rows') return step.rows.map(rowWords).join(' ')
  if (step.kind !== 'ended' || !step.answer.ok) return step.kind
  const { rows, incomplete } = step.answer.data
  return `ended, ${rows} rows, ${incomplete}`
}

function rowWords(row: ListedRow<McpServer>): string {
  return row.kind === 'good' ? `${row.position}:${row.row.server_name}` : row.kind
}

test('a pass that only another one can confirm is yielded before that is asked for, and not a second time', async () => {
  expect(await stepsOf(openMcpList(['a', 'b', 'c']))).toEqual([
    '2 begins',
    '2 0:Server a 1:Server b',
    '2 2:Server c',
    '4 ended, 3 rows, null',
  ])
})

test('a pass that confirms the ids, but has other contents or another order, is yielded in place of the one before', async () => {
  for (const rows of [
    [server('a'), { ...server('b'), server_name: 'Renamed' }, server('c')],
    [server('b'), server('a'), server('c')],
  ]) {
    const list = openMcpList(['a', 'b', 'c'], {
      before: (_asked, n) => {
        if (n === 3) list.rows = rows
      },
    })
    const [first, second, third] = rows.map(row => row.server_name)
    expect(await stepsOf(list)).toEqual([
      '2 begins',
      '2 0:Server a 1:Server b',
      '2 2:Server c',
      '4 begins',
      `4 0:${first} 1:${second}`,
      `4 2:${third}`,
      '4 ended, 3 rows, null',
    ])
  }
})

test('an incomplete pass is yielded only if no other follows', async () => {
  const list = openMcpList(['a', 'b', 'c'], { total: () => 9 })
  const steps = await stepsOf(list)
  expect(steps.filter(step => !/^15 (\d.*)?$/.test(step))).toEqual([
    '15 begins',
    '15 ended, 3 rows, of 9 servers only 3 came',
  ])
})
