import { expect, test } from 'vitest'
import { textOf } from './cells.ts'
import { hold, open, PATH, RULES, stored } from './held.ts'
import { hrefsOf } from './page-text.ts'

test('what was rejected is not asked about again: once another row vanishes, only about that, as the confirmation says', async () => {
  await using harness = await open()
  const { path, run, gone } = await hold(harness)
  const rejection = textOf((await harness.page(`${path}/reject`)).text)
  expect(rejection).toContain('Ferry does not ask again about them.')
  expect(rejection).toContain(
    'If another row vanishes before the platform lists these again, Ferry asks about that one, even if it is only one.',
  )
  expect((await harness.submit(`${path}/reject`)).status).toBe(303)

  const { state } = harness.sandbox
  const other = [...state.rules.rows()].find(({ id }) => !gone.includes(`${id}`))?.id ?? 0n
  state.removeRule(other)
  const later = await harness.sync()
  expect(later).toMatchObject({ status: 'held' })
  expect(later.message).toContain(
    `1 more of 30 rows is gone from the listing; 15 others were kept by a decision on run ${run}`,
  )
  const page = await harness.page(`${PATH}/${later.run}`)
  expect(hrefsOf(page.text, '/rules/')).toEqual([`/rules/default/${other}`])
  expect((await harness.submit(`${PATH}/${later.run}/approve`)).status).toBe(303)
  await expect.poll(() => stored(harness)).toBe(RULES - 1)
})

test('a worker without the account offers to keep the rows, and says who can remove them', async () => {
  await using harness = await open({ config: { accounts: [] } })
  const { path, run } = await hold(harness)
  const { text } = await harness.page(path)
  expect(text).not.toContain(`href="${path}/approve"`)
  expect(text).toContain(`href="${path}/reject"`)
  expect(text).toContain(`or <code>ferry runs approve ${run}</code> there, removes them.`)
})
