import { ACTIONS, LOOKUPS, PAGES } from '#src/http/console/pages.ts'

/** What the console serves, as regular expressions of paths. */
const PATTERNS = [...PAGES, ...ACTIONS, ...LOOKUPS].map(({ path }) => ({
  path,
  matches: new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}$`),
}))

export type Walked = {
  /** Addresses of all kinds: the path of a page, action or lookup, and which parameters it has. */
  readonly addresses: readonly string[]
  /** Pages, actions and lookups to which no link leads. */
  readonly unreached: readonly string[]
  /** Links that lead to no page, with the status, and links to a place that its page does not have. */
  readonly broken: readonly string[]
}

/** Answers for an address of the console, as to somebody who may operate. */
export type AskPage = (address: string) => Promise<{ readonly status: number; readonly text: string }>

/** Follows the links from the first page, to at most `alike` addresses of one kind. */
export async function walk(page: AskPage, alike: number): Promise<Walked> {
  const addresses: string[] = []
  const broken: string[] = []
  const kinds = new Map<string, number>()
  const known = new Set(['/'])
  // The set grows while it is walked.
  for (const address of known) {
    const kind = kindOf(address)
    const count = (kinds.get(kind) ?? 0) + 1
    if (count > alike) continue
    kinds.set(kind, count)
    const { status, text } = await page(address)
    if (status === 200) addresses.push(address)
    else broken.push(`${address}: ${status}`)
    broken.push(...placesMissing(text).map(place => `${address}${place}`))
    for (const link of linksIn(text)) known.add(link)
  }
  const reached = [...kinds.keys()].map(kind => kind.split('?')[0])
  const unreached = PATTERNS.map(({ path }) => path).filter(path => !reached.includes(path))
  return { addresses, unreached, broken }
}

/** The path of a page with the names of its parameters: addresses of one kind differ in values only. */
export function kindOf(address: string): string {
  const { pathname, searchParams } = new URL(address, 'http://ferry')
  const pattern = PATTERNS.find(({ matches }) => matches.test(pathname))?.path ?? pathname
  return `${pattern}?${[...searchParams.keys()].sort().join('&')}`
}

/** Places of the page itself that a link on it names, such as `#main`, and that are not there. */
function placesMissing(text: string): string[] {
  const named = [...text.matchAll(/<a [^>]*?href="#([^"]+)"/g)].map(([, id = '']) => id)
  return named.filter(id => !text.includes(`id="${id}"`)).map(id => `#${id}`)
}

/** Addresses of this server that a page links to, or that a form of it asks for, without what is served as a file, such as CSV. */
export function linksIn(text: string): string[] {
  return [...text.matchAll(/<(?:a [^>]*?href|form [^>]*?method="get" action)="(\/[^"#]*)/g)]
    .map(([, href = '']) => href.replaceAll('&amp;', '&').replaceAll('&#39;', "'").replaceAll('&quot;', '"'))
    .filter(href => !href.startsWith('/sign-in') && !/\.csv(\?|$)/.test(href))
}
