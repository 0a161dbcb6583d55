import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openConsoleHarness } from '../console-harness.ts'
import { hasChromium, IN_A_BROWSER, openChromium, openVisit } from './chromium.ts'

describe.skipIf(!hasChromium)(`who opens the address that is printed, ${IN_A_BROWSER}`, () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openChromium()
  })
  afterAll(() => browser?.close())

  test('is signed in, stays so, and decides', async () => {
    await using harness = await openConsoleHarness({ signsInOnce: true })
    const { address, signInAddress } = harness.http
    await using visit = await openVisit(browser, address)
    const { page, problems } = visit
    await page.goto(signInAddress ?? '')
    expect(page.url()).toBe(`${address}/`)
    expect(await page.locator('h1').innerText()).toBe('Now')
    expect(await page.evaluate('document.cookie')).toBe('')
    await page.goto('/ledger/schedules/prune/*/pause')
    await page.locator('main form button').click()
    await expect
      .poll(() => harness.query('select actor from ferry.audit'))
      .toEqual([{ actor: 'console, operate token' }])
    await page.goto(signInAddress ?? '')
    expect(page.url()).toBe(`${address}/`)
    expect(problems).toEqual([])
  })
})
