import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openConsoleHarness, SIGNED_IN } from '../console-harness.ts'
import { hasChromium, IN_A_BROWSER, openChromium, openVisit } from './chromium.ts'

describe.skipIf(!hasChromium)(`the filters, ${IN_A_BROWSER}`, () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openChromium()
  })
  afterAll(() => browser?.close())

  test('show and send times in the zone of the reader, also after the page fetched itself', async () => {
    await using harness = await openConsoleHarness()
    await harness.sync()
    // A run under way lets the page fetch itself.
    await harness.query(`update ferry.sync_runs set status = 'running', finished_at = null`)
    await using visit = await openVisit(browser, harness.http.address, {
      ...SIGNED_IN,
      timezoneId: 'America/New_York',
    })
    const { page, problems } = visit
    await page.clock.install()
    const since = page.locator('input[name=since]')
    const seen = async () => [
      await page.locator('main [data-zone]').allTextContents(),
      await page.locator('input[name=zone]').inputValue(),
      await since.inputValue(),
    ]
    await page.goto('/ledger?since=2026-01-01T00:00')
    const inNewYork = [['America/New_York', 'America/New_York'], 'America/New_York', '2025-12-31T19:00']
    expect(await seen()).toEqual(inNewYork)
    await harness.query(`update ferry.sync_runs set added = 4321`)
    await page.clock.runFor(10_000)
    await expect.poll(() => page.locator('main').textContent()).toContain('4,321')
    expect(await seen()).toEqual(inNewYork)
    await page.getByRole('button', { name: 'Filter' }).click()
    await page.waitForURL(/zone=America%2FNew_York/)
    expect(new URL(page.url()).searchParams.get('since')).toBe('2025-12-31T19:00')
    expect(await seen()).toEqual(inNewYork)
    expect(problems).toEqual([])
  })
})
