import { expect, test } from 'vitest'
import { stageRows } from '#test/support/staged.ts'
import { openConsoleHarness } from './console-harness.ts'

test('the bar of an import has its parts beside each other, from its start to its end', async () => {
  await using harness = await openConsoleHarness()
  const { pool } = harness.ferry
  const id = await stageRows(pool, { rows: 60, batchRows: 20, status: 'completed' })
  await harness.query(
    `update ferry.imports set read = read + 41, duplicate = 40, rejected = 1 where id = ${id}`,
  )
  const { text } = await harness.page(`/imports/${id}`)
  const parts = [...text.matchAll(/<rect class="rows-[\w-]+" x="([\d.]+)" width="([\d.]+)"/g)].map(
    ([, x, width]) => ({ x: Number(x), width: Number(width) }),
  )
  expect(parts.length).toBeGreaterThanOrEqual(3)
  let end = 0
  for (const { x, width } of parts) {
    expect(x).toBeCloseTo(end, 0)
    expect(width).toBeGreaterThan(0)
    end = x + width
  }
  expect(end).toBeCloseTo(Number(/viewBox="0 0 (\d+) 22"/.exec(text)?.[1]), 0)
})
