import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openFerryHarness } from '#test/support/ferry-harness.ts'

test('an app_key that is rotated in its file is used by the next call, and its calls count for the same limit', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'ferry-test-key-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const path = join(directory, 'key')
  writeFileSync(path, 'revoked')
  await using harness = await openFerryHarness({ rules: 3 }, { FERRY_APP_KEY: '', FERRY_APP_KEY_FILE: path })
  // The harness sets both; an empty setting is unset.
  const sync = () => harness.sync()
  expect(await sync()).toMatchObject({ status: 'failed', errorCode: 'Unauthorized' })
  writeFileSync(path, harness.sandbox.appKey)
  expect(await sync()).toMatchObject({ status: 'succeeded', added: 3 })
  writeFileSync(path, '')
  expect(await sync()).toMatchObject({ status: 'succeeded', unchanged: 3 })
  expect(await harness.query('select distinct limit_key from ferry.platform_calls')).toHaveLength(1)
})
