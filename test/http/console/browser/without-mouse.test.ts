import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { stageRows } from '#test/support/staged.ts'
import { openConsoleHarness, SIGNED_IN } from '../console-harness.ts'
import { hasChromium, IN_A_BROWSER, openChromium, openVisit } from './chromium.ts'

describe.skipIf(!hasChromium)(`somebody without a mouse, or without script, ${IN_A_BROWSER}`, () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openChromium()
  })
  afterAll(() => browser?.close())

  test('goes through a page in its order by keyboard, and sees where', async () => {
    await using harness = await openConsoleHarness()
    await harness.sync()
    await using visit = await openVisit(browser, harness.http.address, SIGNED_IN)
    for (const address of ['/', '/changes', '/imports', '/ledger']) {
      await visit.page.goto(address)
      const wanted = await visit.page.evaluate<number>(MARK_STOPS)
      expect(wanted).toBeGreaterThan(7)
      for (let stop = 0; stop < Math.min(wanted, 25); stop++) {
        await visit.page.keyboard.press('Tab')
        expect(await visit.page.evaluate(FOCUSED), `${address}, stop ${stop}`).toEqual({
          stop: `${stop}`,
          isSeen: true,
        })
      }
    }
  })

  test('skips the navigation', async () => {
    await using harness = await openConsoleHarness()
    await using visit = await openVisit(browser, harness.http.address, SIGNED_IN)
    await visit.page.goto('/')
    await visit.page.keyboard.press('Tab')
    expect(await visit.page.locator('.skip').boundingBox()).toMatchObject({ x: 8, y: 8 })
    await visit.page.keyboard.press('Enter')
    expect(await visit.page.evaluate('document.activeElement.id')).toBe('main')
  })

  for (const javaScriptEnabled of [true, false]) {
    const words = javaScriptEnabled ? 'by keyboard alone' : 'without script'
    test(`decides ${words}`, async () => {
      await using harness = await openConsoleHarness()
      const id = await stageRows(harness.ferry.pool)
      await using visit = await openVisit(browser, harness.http.address, { ...SIGNED_IN, javaScriptEnabled })
      const { page } = visit
      await page.goto(`/imports/${id}`)
      await enter(page, page.locator('main a', { hasText: /^Pause/ }))
      await tabTo(page, page.locator('input[name=because]'))
      await page.keyboard.type('They wait for the new page')
      await enter(page, page.locator('main form button'))
      await page.waitForURL(`**/imports/${id}`)
      expect(await page.locator('main').innerText()).toContain('paused')
      expect(await harness.query('select action, because from ferry.audit order by id desc limit 1')).toEqual(
        [{ action: 'pause', because: 'They wait for the new page' }],
      )
      expect(visit.problems).toEqual([])
    })
  }
})

async function enter(page: Page, target: ReturnType<Page['locator']>): Promise<void> {
  await tabTo(page, target)
  await page.keyboard.press('Enter')
  await page.waitForLoadState()
}

/** Goes on with Tab, as somebody without a mouse has to, until the target has the focus. */
async function tabTo(page: Page, target: ReturnType<Page['locator']>): Promise<void> {
  const isThere = () => target.evaluate(element => element.matches(':focus'))
  for (let stop = 0; stop < 40 && !(await isThere()); stop++) await page.keyboard.press('Tab')
  expect(await isThere()).toBe(true)
}

/** Numbers what Tab should stop at, in the order of the page. */
const MARK_STOPS = `(() => {
  const stops = [...document.querySelectorAll('a[href], button, input:not([type=hidden]), select, summary, [tabindex="0"]')]
    .filter(element => element.checkVisibility())
  // A field for a moment has a stop for each of its parts.
  const until = stops.findIndex(element => element.type === 'datetime-local' || element.type === 'date')
  const simple = until === -1 ? stops : stops.slice(0, until)
  simple.forEach((element, index) => { element.dataset.stop = index })
  return simple.length
})()`

const FOCUSED = `(() => {
  const { activeElement } = document
  const { outlineStyle, outlineWidth } = getComputedStyle(activeElement)
  return { stop: activeElement.dataset.stop, isSeen: outlineStyle !== 'none' && parseFloat(outlineWidth) >= 1 }
})()`
