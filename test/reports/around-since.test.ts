import { expect, test } from 'vitest'
import { REPEATED, REPEATED_IN_FOLDER } from '#src/inventory/messages.ts'
import { loadAround } from '#src/reports/around.ts'
import { openFerryHarness } from '#test/support/ferry-harness.ts'

/* Since when something may have happened. */

test('removals held in some folders have been absent since the last reading of these', async () => {
  await using harness = await openFerryHarness({ rules: 30, servers: 0, folders: 1 })
  const { state } = harness.sandbox
  const folders = [state.rules.rows()[0]!.folder_id]
  for (let n = 0; n < 2; n++) await harness.sync({ folders })
  for (const id of state.rules.ids().slice(0, 25)) state.removeRule(id)
  expect(await harness.sync({ folders })).toMatchObject({ status: 'held' })
  const { rows } = await loadAround(harness.ferry.pool, { at: new Date(), spanMs: 3_600_000 }, 100)
  const [held] = rows.filter(({ kind }) => kind === 'removals.held')
  expect(held?.since).toBeInstanceOf(Date)
})

test('the database knows repeated rows by the reasons that are stored', async () => {
  await using harness = await openFerryHarness({ rules: 0, servers: 0 })
  const [unseen] = await harness.query<{ text: string }>(
    `select pg_get_functiondef('ferry_internal.unseen_since(bigint[])'::regprocedure) as text`,
  )
  for (const reason of [REPEATED, REPEATED_IN_FOLDER]) expect(unseen?.text).toContain(`'${reason}'`)
})

test('a rule that was listed twice was read all the same', async () => {
  await using harness = await openFerryHarness({ rules: 3, servers: 0 })
  const { state } = harness.sandbox
  const [rule] = state.rules.rows()
  await harness.sync()
  const body = () =>
    JSON.stringify([...state.rules.rows(), rule], (_, value) =>
      typeof value === 'bigint' ? Number(value) : value,
    )
  state.replaceRulesBody(body())
  expect(await harness.sync()).toMatchObject({ quarantined: 1 })
  state.replaceRulesBody(null)
  state.changeRule(rule!.id, { name: 'renamed' })
  await harness.sync()
  const { rows } = await loadAround(harness.ferry.pool, { at: new Date(), spanMs: 3_600_000 }, 100)
  const [changed] = rows.filter(({ kind }) => kind === 'rule.changed')
  expect(changed?.since).toBeInstanceOf(Date)
})
