import { afterAll, beforeAll, expect, test } from 'vitest'
import { readConfig } from '#src/config.ts'
import { PAGES } from '#src/http/console/pages.ts'
import { openSideBySide, type SideBySide } from '#test/support/beside-others.ts'
import { fillRichAccount } from '#test/support/rich-account.ts'
import { type ConsoleHarness, openConsoleHarness } from './console-harness.ts'
import { kindOf, linksIn } from './walk.ts'

/* Whoever chooses an account reads the same, whatever another account has. */

let consoles: SideBySide<ConsoleHarness>
beforeAll(async () => {
  const { notify } = readConfig({ FERRY_WEBHOOK_URL: 'http://127.0.0.1:1/' })
  consoles = await openSideBySide(
    () => openConsoleHarness({ config: { notify } }, { rules: 90, servers: 12 }),
    fillRichAccount,
  )
})
afterAll(() => consoles[Symbol.asyncDispose]())

/** Addresses of one kind that are looked at. */
const ALIKE = 2

/** Pages that are about all accounts, whichever one was asked for. */
const OF_ALL = ['/', '/search', '/changes/compare', '/mcp/teams', '/ledger/schedules', '/ledger/holds']

test('each page of one account is the same when others have the same rules, servers and pages', async () => {
  const different: Record<string, unknown> = {}
  const kinds = new Set<string>()
  for await (const address of addressesOf(consoles.alone)) {
    kinds.add(kindOf(address))
    const difference = await differenceAt(address)
    if (difference) different[address] = difference
  }
  expect(different).toEqual({})
  expect(kinds.size).toBeGreaterThan(40)
})

/** Pages that a list leads to by chance or never: two nights of the account, one moment, the rule that fired most often. */
async function pagesOfThings({ query }: ConsoleHarness): Promise<string[]> {
  const nights = await query<{ id: string; at: Date }>(
    `select id, taken_at as at from ferry.snapshots where account = 'default' and slot is not null order by id`,
  )
  const [first, last] = [nights.at(0), nights.at(-1)]
  const [fired] = await query<{ id: string }>(
    `select id from ferry.alert_rule_firings where account = 'default' and ended is not null group by id order by count(*) desc limit 1`,
  )
  const moments = `from=${first?.at.toISOString()}&to=${last?.at.toISOString()}`
  return [
    `/changes/compare?from=${first?.id}&to=${last?.id}`,
    `/changes/compare?${moments}&account=default`,
    `/rules/default/${fired?.id}`,
    `/at/${last?.at.toISOString()}?account=default`,
  ]
}

/** Yields the pages of the account with their CSV, and those to which they lead. */
async function* addressesOf(harness: ConsoleHarness): AsyncGenerator<string> {
  const lists = PAGES.filter(({ path }) => !path.includes(':') && !OF_ALL.includes(path))
  const known = new Set([
    ...(await pagesOfThings(harness)),
    ...lists
      .flatMap(({ path, csv }) => [path, ...(csv ? [`${path}.csv`] : [])])
      .map(path => `${path}?account=default`),
  ])
  const kinds = new Map<string, number>()
  // The set grows while it is walked.
  for (const address of known) {
    const count = (kinds.get(kindOf(address)) ?? 0) + 1
    kinds.set(kindOf(address), count)
    if (count > ALIKE) continue
    yield address
    const { text } = await harness.page(address)
    for (const link of linksIn(text)) if (isOfAccount(link)) known.add(link)
  }
}

/** Asked for by account, or about something that is of the account: it was found on a page of it. */
function isOfAccount(address: string): boolean {
  const { pathname, searchParams } = new URL(address, 'http://ferry')
  if (OF_ALL.includes(pathname)) return false
  return (
    searchParams.get('account') === 'default' ||
    /^\/(rules|servers)\/default\/|^\/imports\/\d|^\/ledger\/(runs|holds)\/\d/.test(pathname)
  )
}

/** What differs for the first time; null if nothing does. Between two answers a second may have passed: then it is asked again. */
async function differenceAt(address: string): Promise<object | null> {
  let found: object | null = null
  for (let times = 0; times < 3; times++) {
    const [alone = '', beside = ''] = await Promise.all(
      [consoles.alone, consoles.beside].map(async ({ page }) => {
        const { status, text } = await page(address)
        return `${status} ${steady(text)}`
      }),
    )
    if (alone === beside) return null
    const at = [...alone].findIndex((character, n) => character !== beside[n])
    found = { alone: alone.slice(at - 100, at + 100), beside: beside.slice(at - 100, at + 100) }
  }
  return found
}

/**
 * A page without what is of the moment or of a browser, parts of seconds in CSV, and what its fields offer to choose from: words and
 * nights of all accounts.
 */
function steady(page: string): string {
  const offered =
    /<datalist.*?<\/datalist>|<select name="(?:from|to)">.*?<\/select>|<p class="buttons">.*?<\/p>/gs
  return page
    .replaceAll(offered, '')
    .replaceAll(/<input[^>]* name="token"[^>]*>|<span data-as-of>.*?<\/span>/gs, '')
    .replaceAll(/(?<=,\d+)\.\d+/g, '')
}
