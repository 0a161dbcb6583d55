import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import type { Visit } from './chromium.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const SCREEN = { width: 1280, height: 900 }
const PHONE = { width: 390, height: 844 }

/** Where only colors, or only sizes, differ from a look before, the rules about the rest are not tried again. */
export const FOUR_LOOKS = [
  { name: 'on a screen, light', size: SCREEN, colorScheme: 'light', rules: 'all' },
  { name: 'on a screen, dark', size: SCREEN, colorScheme: 'dark', rules: 'colors' },
  { name: 'on a phone, dark', size: PHONE, colorScheme: 'dark', rules: 'colors' },
  { name: 'on a phone, light', size: PHONE, colorScheme: 'light', rules: null },
] as const
type Look = (typeof FOUR_LOOKS)[number]

/** Each width once: for pages whose colors are those of pages that all four looked at. */
export const TWO_LOOKS: readonly Look[] = [FOUR_LOOKS[0], FOUR_LOOKS[3]]

/** Axe need not load the style sheets a second time (`preload`): only rules that are off by default read them. */
const USUAL = { preload: false, reporter: 'no-passes' }
const AXE_OPTIONS = { all: USUAL, colors: { ...USUAL, runOnly: ['color-contrast', 'link-in-text-block'] } }

/** Opens each address, and looks at it in these ways; returns what is wrong, one line each. */
export async function lookAt(
  { page, problems }: Visit,
  addresses: readonly string[],
  looks: readonly Look[],
  alsoWrong: (page: Page) => Promise<string[]> = async () => [],
): Promise<string[]> {
  const found: string[] = []
  for (const address of addresses) {
    await page.goto(address)
    for (const { name, size, colorScheme, rules } of looks) {
      await page.setViewportSize(size)
      await page.emulateMedia({ colorScheme })
      const wrong = [...(await overflowing(page)), ...(rules ? await axeFindings(page, rules) : [])]
      found.push(...wrong.map(line => `${address} ${name}: ${line}`))
    }
    const more = [...(await alsoWrong(page)), ...problems.splice(0)]
    found.push(...more.map(line => `${address} ${line}`))
  }
  return found
}

/** What axe finds on the page as it looks now: contrast, names, order, landmarks. */
async function axeFindings(page: Page, rules: keyof typeof AXE_OPTIONS): Promise<string[]> {
  const isLoaded = await page.evaluate<boolean>('"axe" in window')
  if (!isLoaded) await page.evaluate(AXE)
  return page.evaluate<string[]>(`
    axe.run(document, ${JSON.stringify(AXE_OPTIONS[rules])}).then(({ violations }) =>
      violations.flatMap(({ id, impact, nodes }) => nodes.slice(0, 3).map(node =>
        impact + ' ' + id + ': ' + node.html.slice(0, 160) + ' (' + (node.any[0]?.message ?? '').slice(0, 120) + ')')))`)
}

/** What is wider than the window: nobody should have to scroll a page sideways. */
async function overflowing(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`(() => {
    const width = document.documentElement.clientWidth
    if (document.documentElement.scrollWidth <= width) return []
    const isFree = element => ['absolute', 'fixed'].includes(getComputedStyle(element).position)
    function isHeld(element) {
      for (let at = isFree(element) ? null : element.parentElement; at && at !== document.body; at = at.parentElement) {
        if (['auto', 'scroll', 'hidden', 'clip'].includes(getComputedStyle(at).overflowX)) return true
      }
      return false
    }
    const wide = [...document.body.querySelectorAll('*')].filter(
      element => element.getBoundingClientRect().right > width + 0.5 && !isHeld(element))
    return ['is ' + document.documentElement.scrollWidth + ' wide', ...wide.slice(0, 3).map(element => element.outerHTML.slice(0, 160))]
  })()`)
}
