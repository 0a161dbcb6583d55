import { expect, test } from 'vitest'
import { loadInventory } from '#src/inventory/history/list-inventory.ts'
import { runFerryHere } from '#test/cli/run-ferry.ts'
import { insertFiring, insertRuleVersion, insertServerVersion } from '#test/support/versions.ts'
import { openConsoleHarness } from './console-harness.ts'

/* Postgres has microseconds, what people see has milliseconds. */

const [BEFORE, CHANGED] = ['2026-11-20T10:00:00.123456Z', '2026-11-20T11:00:00.089298Z']

test('at an instant that was shown, what happened then is known', async () => {
  await using harness = await openConsoleHarness()
  const { pool } = harness.ferry
  for (const insert of [insertRuleVersion, insertServerVersion]) {
    await insert(pool, { id: '1', name: 'before', from: BEFORE, to: CHANGED })
    await insert(pool, { id: '1', name: 'after', from: CHANGED })
  }
  await insertFiring(pool, { id: '1', from: CHANGED })
  const [{ valid_from: shown } = { valid_from: null }] = await loadInventory(pool, 'alert-rules', '1', {})
  const at = (shown as Date).toISOString()
  expect(at).toBe('2026-11-20T11:00:00.089Z')

  for (const path of ['/rules?', '/rules?sort=updated&', '/rules?firing=yes&', '/servers?']) {
    const { text } = await harness.page(`${path}asOf=${at}`)
    expect(text, path).toContain('>after<')
    expect(text, path).not.toContain('>before<')
  }
  const { text } = await harness.page(`/changes/compare?from=2026-11-20T10:30Z&to=${at}`)
  expect(text).toContain('after')

  const printed = async (...args: string[]) =>
    (await runFerryHere(args, { DATABASE_URL: harness.databaseUrl })).stdout
  for (const inventory of ['rules', 'servers']) {
    expect(await printed(inventory, 'list', '--as-of', at)).toContain('after')
    const whole = await printed(inventory, 'show', '1', '--as-of', at, '--json')
    expect(whole).toMatch(/"(name|server_name)":"after".*"change":"changed"/)
  }
  expect(await printed('rules', 'list', '--as-of', '2026-11-20T11:00:00.088Z')).toContain('before')
  expect(await printed('at', at, '--json')).toContain('"firing":[{"account":"a"')
})
