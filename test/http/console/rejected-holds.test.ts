import { expect, test } from 'vitest'
import { textOf } from './cells.ts'
import { hold, open, PATH, RULES, stored } from './held.ts'

test('what was rejected is asked about again once another row vanishes, and both confirmations say what follows', async () => {
  await using harness = await open()
  const { path, run, gone } = await hold(harness)
  const approval = await harness.page(`${path}/approve`)
  expect(approval.text).not.toContain('said not to be gone')
  const rejection = textOf((await harness.page(`${path}/reject`)).text)
  expect(rejection).toContain('Ferry does not ask again about them while no other row vanishes.')
  expect(rejection).toContain(
    'If another row vanishes before the platform lists these again, Ferry asks about all of them together.',
  )
  expect((await harness.submit(`${path}/reject`)).status).toBe(303)

  const { state } = harness.sandbox
  state.removeRule([...state.rules.rows()].find(({ id }) => !gone.includes(`${id}`))?.id ?? 0n)
  const later = await harness.sync()
  expect(later).toMatchObject({ status: 'held' })
  const { text } = await harness.page(`${PATH}/${later.run}/approve`)
  expect(textOf(text)).toContain(
    `Somebody decided to keep 15 of the 16 rows in run ${run}. Approving this hold removes them too.`,
  )
  expect(text).toContain(`<a href="${path}">run ${run}</a>`)
  expect((await harness.submit(`${PATH}/${later.run}/approve`)).status).toBe(303)
  await expect.poll(() => stored(harness)).toBe(RULES - 16)
})
