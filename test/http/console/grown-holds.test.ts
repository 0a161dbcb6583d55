import { expect, test } from 'vitest'
import { EXIT } from '#src/cli/exit.ts'
import { approve } from '#src/cli/runs/decide.ts'
import { cellsOf, textOf } from './cells.ts'
import { BOTH_TOKENS, OPERATE_TOKEN, READ_TOKEN } from './console-harness.ts'
import { acts, GONE, hold, open, openForms, PATH, RULES, sendOpened, stored } from './held.ts'
import { hrefsOf } from './page-text.ts'

test('a decision counts for the rows that were looked at: later ones are marked, and stay held', async () => {
  await using harness = await open({ tokens: BOTH_TOKENS })
  const { path, run, gone } = await hold(harness)
  const forms = await openForms(harness, path)
  const { state } = harness.sandbox
  const [next] = [...state.rules.rows()].map(({ id }) => id).filter(id => !gone.includes(`${id}`))
  state.removeRule(next ?? 0n)
  const later = await harness.sync()
  expect(later).toMatchObject({ status: 'held' })
  const latest = `${PATH}/${later.run}`

  const { text } = await harness.page(path, READ_TOKEN)
  expect(textOf(text)).toContain(`1 row is new since run ${run}: a decision on this page does not touch it.`)
  expect(textOf(text)).toContain('The platform no longer lists 15 of 30 alert rules')
  expect(textOf(text)).toMatch(new RegExp(`First missing.*?run ${run} ?Last missing ?run ${later.run}`))
  const folders = cellsOf(text, 'Folders that would lose the most').map(([, removed]) => Number(removed))
  expect(folders.reduce((sum, one) => sum + one, 0)).toBe(15)
  expect(text).toContain(`href="${latest}">Look at all 16, as run ${later.run} found them`)
  const parts = text.split(`Rows that run ${run} held`)
  const [marked = '', others = ''] = [parts[0], parts.at(-1)]
  expect(hrefsOf(marked, '/rules/')).toEqual([`/rules/default/${next}`])
  expect(hrefsOf(others, '/rules/')).toHaveLength(GONE)
  expect(text).toContain(`href="${path}/approve"`)
  expect(text).toContain(`href="${path}/reject"`)
  expect(textOf(text)).toContain(`They are gone: remove the 15 of run ${run}`)
  expect(textOf(text)).toContain(`They are not gone: keep the 15 of run ${run}`)
  expect(textOf((await harness.page(`${path}/approve`, OPERATE_TOKEN)).text)).toContain(
    'Remove 15 of 30 alert rules',
  )
  expect(textOf((await harness.page(`${path}/reject`, OPERATE_TOKEN)).text)).toContain(
    'Keep 15 of 30 alert rules',
  )
  expect((await harness.page(latest, READ_TOKEN)).text).not.toContain('New since')

  const [approve] = forms
  expect(await sendOpened(harness, approve!.at, approve!.text)).toMatchObject({
    status: 303,
    headers: { location: path },
  })
  expect(await stored(harness)).toBe(RULES - GONE)
  const left = (await harness.page(path, READ_TOKEN)).text
  expect(textOf(left)).toContain('Approved: 15 alert rules were still missing, and were removed.')
  expect(textOf((await harness.page(latest, READ_TOKEN)).text)).toContain('approved other rows of this hold')
  expect(left).not.toContain('/approve"')
  expect(await harness.page(`${path}/approve`, OPERATE_TOKEN)).toMatchObject({ status: 303 })
  expect((await harness.page('/ledger/audit', READ_TOKEN)).text).toContain('15 of 16')

  // The next poll finds only one row gone, and does not decide about it by itself.
  expect(await harness.sync()).toMatchObject({ status: 'held', removed: 0 })
  expect((await harness.submit(`${latest}/approve`, {}, OPERATE_TOKEN)).status).toBe(303)
  await expect.poll(() => stored(harness)).toBe(RULES - 16)
})

test('a rejection counts for the rows that were looked at: later ones wait on, and are approved without them', async () => {
  await using harness = await open({ tokens: BOTH_TOKENS })
  const { path, run, gone } = await hold(harness)
  const [, reject] = await openForms(harness, path)
  const { state } = harness.sandbox
  const [next] = [...state.rules.rows()].map(({ id }) => id).filter(id => !gone.includes(`${id}`))
  state.removeRule(next ?? 0n)
  const later = await harness.sync()
  const confirmation = textOf((await harness.page(`${path}/reject`, OPERATE_TOKEN)).text)
  expect(confirmation).toContain(`1 row is new since run ${run}: a decision on this page does not touch it.`)
  expect(await sendOpened(harness, reject!.at, reject!.text)).toMatchObject({
    status: 303,
    headers: { location: path },
  })
  expect(await acts(harness)).toMatchObject([{ action: 'reject', subject_id: `${run}` }])
  expect(textOf((await harness.page(path, READ_TOKEN)).text)).toContain('Rejected by')
  const rest = await harness.page(`${PATH}/${later.run}`, READ_TOKEN)
  expect(hrefsOf(rest.text, '/rules/')).toEqual([`/rules/default/${next}`])

  expect((await harness.submit(`${PATH}/${later.run}/approve`, {}, OPERATE_TOKEN)).status).toBe(303)
  await expect.poll(() => stored(harness)).toBe(RULES - 1)
  expect(await harness.sync()).toMatchObject({ status: 'succeeded', removed: 0 })
})

test('an approval that another key kept from removing anything says so, also on the command line by its exit code', async () => {
  await using harness = await open()
  const { path, run } = await hold(harness)
  harness.sandbox.state.addKey({ key: 'another' })
  const other = await harness.openFerry({ FERRY_APP_KEY: 'another' })
  expect(await approve(other, run, { as: 'ada' }, new AbortController().signal)).toBe(EXIT.undecided)
  const text = textOf((await harness.page(path)).text)
  expect(text).toContain(
    'but nothing was removed: 15 rows are not listed and kept, because they were held with another key',
  )
  expect(text).not.toContain('approved other rows')
})
