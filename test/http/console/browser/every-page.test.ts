import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fillWorkingDays } from '#test/support/working-days.ts'
import { BOTH_TOKENS, bearing, openConsoleHarness, READ_TOKEN, SIGNED_IN } from '../console-harness.ts'
import { walk } from '../walk.ts'
import { hasChromium, IN_A_BROWSER, openChromium, openVisit } from './chromium.ts'
import { fillHostileData, markupThatWorks } from './hostile-data.ts'
import { FOUR_LOOKS, lookAt, TWO_LOOKS } from './looks.ts'

/* Every page that a link leads to fits the window, and axe finds nothing on it. Nothing is asked of another host. */

describe.skipIf(!hasChromium)(`every page, ${IN_A_BROWSER}`, () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openChromium()
  })
  afterAll(() => browser?.close())

  test('with data fits a phone and a screen, is readable in light and dark, and usable for everybody', async () => {
    await using harness = await openConsoleHarness({}, { rules: 60, servers: 12 })
    await fillWorkingDays(harness)
    const { addresses } = await walk(harness.page, 1)
    await using visit = await openVisit(browser, harness.http.address, SIGNED_IN)
    expect(await lookAt(visit, addresses, FOUR_LOOKS)).toEqual([])
  })

  test('is as good before anything was read, and each empty list names what to do', async () => {
    await using harness = await openConsoleHarness()
    const { addresses } = await walk(harness.page, 1)
    await using visit = await openVisit(browser, harness.http.address, SIGNED_IN)
    const silent = async (page: Page) => {
      const empty = await page.locator('.empty p:last-child').allInnerTexts()
      return empty.filter(text => text.length < 20).map(text => `says only: ${text}`)
    }
    expect(await lookAt(visit, addresses, TWO_LOOKS, silent)).toEqual([])
  })

  test('shows names that are markup, turn the text around or are very long as what they are', async () => {
    await using harness = await openConsoleHarness({}, { rules: 12, servers: 6 })
    await fillHostileData(harness)
    const { addresses } = await walk(harness.page, 1)
    await using visit = await openVisit(browser, harness.http.address, SIGNED_IN)
    expect(await lookAt(visit, addresses, TWO_LOOKS, markupThatWorks)).toEqual([])
  })

  test('of an error looks like the others', async () => {
    await using harness = await openConsoleHarness({ tokens: BOTH_TOKENS })
    const extraHTTPHeaders = bearing(READ_TOKEN)
    await using visit = await openVisit(browser, harness.http.address, { extraHTTPHeaders })
    const wrong = ['/nowhere', '/ledger/runs/99', '/imports?status=x', '/imports?after=x']
    const found = await lookAt(visit, wrong, FOUR_LOOKS)
    harness.proxy.fallSilent()
    found.push(...(await lookAt(visit, ['/'], FOUR_LOOKS)))
    // The browser itself says so of every error.
    expect(found.filter(line => !line.includes('the server responded with a status of'))).toEqual([])
  })
})
