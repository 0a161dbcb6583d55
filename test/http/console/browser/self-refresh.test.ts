import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { saveFreshnessTargets } from '#src/reports/freshness-targets.ts'
import { FRESHNESS_TARGET } from '#test/support/freshness-target.ts'
import { ageRuns } from '#test/support/runs.ts'
import { openConsoleHarness, SIGNED_IN } from '../console-harness.ts'
import { hasChromium, IN_A_BROWSER, openChromium, openVisit } from './chromium.ts'

/* Time passes by the clock of the page, which a test moves. Nothing here waits for real seconds. */

const HOUR_MS = 3_600_000
/** The first page fetches itself more often. */
const LONGER_THAN_MS = 16_000

describe.skipIf(!hasChromium)(`a page that fetches itself, ${IN_A_BROWSER}`, () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openChromium()
  })
  afterAll(() => browser?.close())

  /** Opens the first page of a Ferry whose rules are fresh. */
  async function openNow() {
    await using opened = new AsyncDisposableStack()
    const harness = opened.use(await openConsoleHarness())
    const pool = harness.ferry.pool
    await saveFreshnessTargets(pool, [{ ...FRESHNESS_TARGET, targetMs: HOUR_MS }])
    await harness.sync()
    const { page, problems } = opened.use(await openVisit(browser, harness.http.address, SIGNED_IN))
    let asked = 0
    page.on('request', request => {
      asked += Number(request.resourceType() === 'fetch')
    })
    await page.clock.install()
    await page.goto('/')
    const kept = opened.move()
    return {
      harness,
      page,
      problems,
      /** How often the page has asked for itself. */
      asked: () => asked,
      main: page.locator('main'),
      live: page.locator('[data-live]'),
      /** What the page says of its loss of Ferry or of Postgres; null if nothing is lost. */
      lost: () => page.locator('body').getAttribute('data-lost'),
      makeLate: () => ageRuns(pool, '2 hours'),
      /** Lets the time come at which the page fetches itself. */
      passTime: () => page.clock.runFor(LONGER_THAN_MS),
      async textLater() {
        await page.clock.runFor(LONGER_THAN_MS)
        return page.locator('main').textContent()
      },
      /** Lets the time come at which the page fetches itself, and waits for the answer. */
      async refresh() {
        const answered = page.waitForResponse(response => response.request().resourceType() === 'fetch')
        await page.clock.runFor(LONGER_THAN_MS)
        await (await answered).finished()
      },
      [Symbol.asyncDispose]: () => kept.disposeAsync(),
    }
  }

  test('shows what is new, and tells screen readers which state has changed', async () => {
    await using now = await openNow()
    await now.refresh()
    expect(await now.live.textContent()).toBe('')
    await now.makeLate()
    await now.refresh()
    await expect.poll(() => now.live.textContent()).toMatch(/default.*: late/)
    expect(await now.main.textContent()).toContain('late')
    expect(now.problems).toEqual([])
  })

  test('says of which moment it is', async () => {
    await using now = await openNow()
    const first = await now.page.locator('[data-as-of] time').getAttribute('datetime')
    await now.refresh()
    await expect.poll(() => now.page.locator('[data-as-of] time').getAttribute('datetime')).not.toBe(first)
  })

  test('keeps ages up to date by the clock of the server, whatever that of the reader says', async () => {
    await using harness = await openConsoleHarness()
    await harness.sync()
    await harness.query(`update ferry.sync_runs set started_at = now() - interval '58 min 5 s'`)
    await using visit = await openVisit(browser, harness.http.address, SIGNED_IN)
    const { page } = visit
    await page.clock.install({ time: new Date('2031-01-01T00:00:00Z') })
    await page.goto('/ledger')
    const age = page.locator('td time[data-ago]').first()
    expect(await age.textContent()).toBe('58 min ago')
    await page.clock.runFor(10 * 60_000)
    expect(await age.textContent()).toBe('1 h 8 min ago')
    expect(visit.problems).toEqual([])
  })

  test('changes nothing under somebody who goes through it by keyboard', async () => {
    await using now = await openNow()
    await now.makeLate()
    await now.page.keyboard.press('Tab') // the skip link
    await now.page.keyboard.press('Enter')
    await now.page.keyboard.press('Tab')
    expect(await now.main.locator(':focus').count()).toBe(1)
    await now.passTime()
    expect(now.asked()).toBe(0)
    expect(await now.main.textContent()).not.toContain('late')
    await now.page.evaluate('document.activeElement.blur()')
    await now.refresh()
    await expect.poll(() => now.main.textContent()).toContain('late')
  })

  test('changes nothing under somebody who selects text', async () => {
    await using now = await openNow()
    await now.makeLate()
    await now.page.evaluate('getSelection().selectAllChildren(document.querySelector("main h1"))')
    await now.passTime()
    expect(now.asked()).toBe(0)
    expect(await now.main.textContent()).not.toContain('late')
    await now.page.evaluate('getSelection().removeAllRanges()')
    await now.refresh()
    await expect.poll(() => now.main.textContent()).toContain('late')
  })

  test('keeps what was typed, after the field is left too', async () => {
    await using now = await openNow()
    await addToEveryPage(now.page, '<form><input name="because"></form>')
    await now.refresh()
    await now.main.locator('input').fill('they are gone for good')
    await now.page.evaluate('document.activeElement.blur()')
    await now.passTime()
    expect(await now.main.locator('input').inputValue()).toBe('they are gone for good')
  })

  test('keeps open what was opened', async () => {
    await using now = await openNow()
    await addToEveryPage(now.page, '<details><summary>The same numbers</summary>1</details>')
    const details = now.main.locator('details', { hasText: 'The same numbers' })
    await details.locator('summary').click()
    await now.makeLate()
    await now.refresh()
    await expect.poll(() => now.main.textContent()).toContain('late')
    expect(await details.getAttribute('open')).not.toBeNull()
  })

  test('asks at once when somebody comes back to it, and never while nobody can see it', async () => {
    await using now = await openNow()
    await now.makeLate()
    await setVisibility(now.page, true)
    await now.passTime()
    expect(now.asked()).toBe(0)
    expect(await now.main.textContent()).not.toContain('late')
    await setVisibility(now.page, false)
    await expect.poll(() => now.main.textContent()).toContain('late')
  })

  test.each([
    ['does not answer', 'fallSilent'],
    ['is stopped', 'stop'],
  ] as const)('stays as it was while Postgres %s, says so, and goes on when it is back', async (_, fails) => {
    await using now = await openNow()
    const shown = await now.main.innerText()
    now.harness.proxy[fails]()
    await now.refresh()
    await expect.poll(now.lost).toContain('cannot read from Postgres')
    expect(await now.live.textContent()).toContain('What is shown is old')
    expect(await now.main.innerText()).toBe(shown)
    now.harness.proxy.recover()
    await now.makeLate()
    await expect.poll(now.textLater).toContain('late')
    expect(await now.lost()).toBeNull()
    expect(await now.live.textContent()).not.toContain('old')
  })

  test('says that Ferry is gone, and when it is back', async () => {
    await using now = await openNow()
    await now.page.route('**/', route => route.abort())
    await now.passTime()
    await expect.poll(now.lost).toContain('Ferry does not answer')
    await now.page.unroute('**/')
    await now.refresh()
    await expect.poll(now.lost).toBeNull()
    expect(await now.live.textContent()).toBe('Ferry answers again.')
  })

  test('comes by itself if Postgres did not answer at first', async () => {
    await using now = await openNow()
    now.harness.proxy.fallSilent()
    await now.page.reload()
    expect(await now.main.innerText()).toContain('Postgres could not answer')
    now.harness.proxy.recover()
    await expect.poll(now.textLater).toContain('fresh')
    expect(await now.page.title()).toBe('Now · Ferry')
  })
})

/** From now on each page has this too, as Ferry may send it. */
async function addToEveryPage(page: Page, html: string): Promise<void> {
  await page.route('**/', async route => {
    const response = await route.fetch()
    const body = (await response.text()).replace('</main>', `${html}</main>`)
    await route.fulfill({ response, body })
  })
  await page.reload()
}

async function setVisibility(page: Page, isHidden: boolean): Promise<void> {
  await page.evaluate(`
    Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true })
    document.dispatchEvent(new Event('visibilitychange'))`)
}
