import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const SOURCES = globSync('src/http/**/*.ts').map(path => ({ path, source: readFileSync(path, 'utf8') }))

/** The files that have what matches. */
const filesWith = (pattern: RegExp) =>
  SOURCES.filter(({ source }) => pattern.test(source)).map(({ path }) => path)

test('only the file of the template knows hono, so nothing else can make HTML of text', () => {
  expect(SOURCES.length).toBeGreaterThan(30)
  expect(filesWith(/from 'hono/)).toEqual(['src/http/console/html.ts'])
  expect(filesWith(/\bas Html\b/)).toEqual(['src/http/console/html.ts'])
  expect(filesWith(/isEscaped|\braw\(|\bimport \{[^}]*\braw\b/)).toEqual([])
})

test('no page has styles, scripts or handlers of its own: the content security policy forbids them', () => {
  expect(filesWith(/style="|style=\$|<style|javascript:|\son[a-z]+="/)).toEqual([])
  expect(filesWith(/<script(?! src="\$)/)).toEqual([])
  expect(filesWith(/<script/)).toEqual(['src/http/console/layout.ts'])
})
