import { expect, test } from 'vitest'
import { textOf } from './cells.ts'
import { hold, open, RULES, stored } from './held.ts'

test('an approval that fails before its run begins says so, until it is approved again', async () => {
  await using harness = await open()
  const { path } = await hold(harness)
  await harness.query('alter table ferry.leases rename to gone')
  expect((await harness.submit(`${path}/approve`)).status).toBe(303)
  await harness.query('alter table ferry.gone rename to leases')
  const failed = await harness.page(path)
  expect(textOf(failed.text)).toContain('Approved by console, operate token, but it failed at')
  expect(failed.text).toContain(`href="${path}/approve"`)
  expect(await stored(harness)).toBe(RULES)
  expect((await harness.submit(`${path}/approve`)).status).toBe(303)
  await expect.poll(async () => (await harness.page(path)).text).toContain('Approved:')
  expect((await harness.page(path)).text).not.toContain('but it failed')
})

test('a worker without the account of a hold does not approve it, and says who can', async () => {
  await using harness = await open()
  const { path } = await hold(harness)
  await harness.query(`update ferry.removal_holds set account = 'gone'`)
  await harness.query(`update ferry.sync_runs set account = 'gone'`)
  const refused = await harness.submit(`${path}/approve`)
  expect(refused.status).toBe(409)
  expect(textOf(refused.text)).toContain('This worker has no account gone. Nothing was done.')
  expect(textOf(refused.text)).toContain('Use the console of a worker that has this account in its settings.')
  expect(await harness.query('select from ferry.audit')).toEqual([])
  expect((await harness.submit(`${path}/reject`)).status).toBe(303)
})
