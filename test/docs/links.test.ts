import { existsSync, globSync } from 'node:fs'
import { expect, test } from 'vitest'
import { PAGES, pathOf, readPage } from './pages.ts'

test('every file that the pages name exists', () => {
  const named = PAGES.flatMap(page =>
    [
      ...readPage(page).matchAll(/`((?:src|jobs|test|bench|drizzle|docs|integrations|bin|\.ci)\/[\w./-]*)`/g),
    ].map(([, path = '']) => `${page}: ${path}`),
  )
  expect(named.length).toBeGreaterThan(60)
  // `jobs/NAME.ts` is a pattern.
  const files = named.filter(line => !/\/[A-Z]{3,}\./.test(line))
  expect(files.filter(line => !existsSync(pathOf(line.split(': ')[1] ?? '')))).toEqual([])
})

test('links between the pages lead somewhere', () => {
  const links = PAGES.flatMap(page =>
    [...readPage(page).matchAll(/\]\((?!https?:)([^)#]*)(#[^)]*)?\)/g)].map(([link, path = '', anchor]) => ({
      page,
      link,
      target: path === '' ? page : resolveFrom(page, path),
      anchor,
    })),
  )
  expect(links.length).toBeGreaterThan(60)
  const dangling = links.filter(({ target, anchor }) => !leadsSomewhere(target, anchor))
  expect(dangling.map(({ page, link }) => `${page}: ${link}`)).toEqual([])
})

test('every page can be reached from the README', () => {
  const reached = new Set(['README.md'])
  for (const page of reached) {
    if (!page.endsWith('.md')) continue
    for (const [, path = ''] of readPage(page).matchAll(/\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)/g)) {
      reached.add(resolveFrom(page, path))
    }
  }
  expect(PAGES.filter(page => !reached.has(page))).toEqual([])
})

test('every table, view and function that the pages name is in docs/schema.md', () => {
  const headings = new Set([...readPage('docs/schema.md').matchAll(/^### (\w+)/gm)].map(([, name]) => name))
  const named = PAGES.filter(page => page !== 'CHANGELOG.md').flatMap(page =>
    [...readPage(page).matchAll(/`ferry\.(?!ts\b|env\b)(\w+)/g)].map(([, name = '']) => `${page}: ${name}`),
  )
  expect(named.length).toBeGreaterThan(10)
  expect(named.filter(line => !headings.has(line.split(': ')[1]))).toEqual([])
})

test('every type that docs/glossary.md names is exported by the code', () => {
  const named = [...readPage('docs/glossary.md').matchAll(/^\| `([A-Z]\w+)` \|/gm)].map(
    ([, name = '']) => name,
  )
  expect(named.length).toBeGreaterThan(5)
  const sources = globSync('{src,jobs}/**/*.ts', { cwd: pathOf('.') })
    .map(readPage)
    .join('\n')
  const missing = named.filter(name => !new RegExp(`^export (?:type|class) ${name}\\b`, 'm').test(sources))
  expect(missing).toEqual([])
})

test('the README has fewer than 200 lines', () => {
  expect(readPage('README.md').split('\n').length).toBeLessThan(200)
})

function leadsSomewhere(target: string, anchor: string | undefined): boolean {
  if (!existsSync(pathOf(target))) return false
  return anchor === undefined || anchorsOf(readPage(target)).includes(anchor)
}

/** As the usual renderers make them from headings. */
function anchorsOf(markdown: string): string[] {
  return [...markdown.matchAll(/^#+ (.+)$/gm)].map(
    ([, heading = '']) =>
      `#${heading
        .toLowerCase()
        .replaceAll(/[^\w\- ]/g, '')
        .replaceAll(' ', '-')}`,
  )
}

function resolveFrom(page: string, path: string): string {
  return new URL(path, `file:///${page}`).pathname.slice(1)
}
