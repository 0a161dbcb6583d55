import { spawnSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { pathOf, readPage } from '#test/docs/pages.ts'
import { documentsOf, hasProgram, integration, readIntegration } from './files.ts'

type Rule = {
  readonly alert: string
  readonly expr: string
  readonly annotations: { readonly summary: string; readonly runbook_url: string }
}
type Rules = { readonly groups: readonly { readonly rules: readonly Rule[] }[] }
type Tests = { readonly tests: readonly { readonly alert_rule_test: readonly UnitTest[] }[] }
type UnitTest = { readonly alertname: string; readonly exp_alerts?: readonly object[] }

const RULES = 'prometheus/ferry.rules.yml'
const TESTS = 'prometheus/ferry.rules.test.yml'
const rules = documentsOf<Rules>(readIntegration(RULES)).flatMap(({ groups }) =>
  groups.flatMap(group => group.rules),
)
const page = readPage('docs/operators.md')

describe.skipIf(!hasProgram('promtool', '--version'))('promtool (of the Debian package prometheus)', () => {
  test.each([
    ['check', 'rules', RULES],
    ['test', 'rules', TESTS],
  ])('%s %s %s', (...[verb, what, file]) => {
    const { status, stdout, stderr } = spawnSync('promtool', [verb, what, integration(file)], {
      encoding: 'utf8',
    })
    expect({ status, said: status === 0 ? '' : stdout + stderr }).toEqual({ status: 0, said: '' })
  })
})

test('each alert has a unit test, in which it fires and in which it does not', () => {
  const tests = documentsOf<Tests>(readIntegration(TESTS)).flatMap(file =>
    file.tests.flatMap(({ alert_rule_test }) => alert_rule_test),
  )
  for (const { alert } of rules) {
    const own = tests.filter(({ alertname }) => alertname === alert)
    expect([
      alert,
      own.some(({ exp_alerts }) => exp_alerts),
      own.some(({ exp_alerts }) => !exp_alerts),
    ]).toEqual([alert, true, true])
  }
})

test('each alert has a paragraph in the docs, to which it leads', () => {
  expect(rules.length).toBeGreaterThanOrEqual(8)
  for (const { alert, annotations } of rules) {
    // A pager opens it: an address that leads nowhere without the rest is of no use.
    expect(URL.parse(annotations.runbook_url)?.href).toBe(
      `https://ferry.example.com/docs/operators.md#${alert.toLowerCase()}`,
    )
    expect(page).toMatch(new RegExp(`^#### ${alert}\\n\\n\\S`, 'm'))
  }
})

test('the rules use only metrics and labels that the docs name', () => {
  const documented = new Map(
    [...page.matchAll(/^\| `(ferry_\w+)` \| ([a-z, ]*)\|/gm)].map(([, name = '', labels = '']) => [
      name,
      labels,
    ]),
  )
  for (const { expr } of rules) {
    const names = [...expr.matchAll(/\bferry_\w+/g)].map(([name]) => name)
    for (const name of names) expect([...documented.keys()]).toContain(name)
    if (names.length === 0) expect(expr).toContain('up{job="ferry"}')
    const known = new Set(
      names.flatMap(name => (documented.get(name) ?? '').split(',').map(label => label.trim())),
    )
    const grouped = [...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, labels = '']) => labels.split(', '))
    const matched = names.length === 0 ? [] : [...expr.matchAll(/(\w+)=~?"/g)].map(([, label = '']) => label)
    expect([...known]).toEqual(expect.arrayContaining([...grouped, ...matched]))
  }
})

test('where the docs say how to replace the address of the runbooks, each of the rules is replaced', () => {
  const [, from, to] =
    /sed -i 's#([^#]+)#([^#]+)#' ferry\.rules\.yml/.exec(readPage('docs/integrations.md')) ?? []
  const replaced = readIntegration(RULES).replaceAll(from ?? 'none', to ?? '')
  expect(replaced).not.toContain('example.com')
  expect(replaced.split(`runbook_url: ${to}/operators.md#`)).toHaveLength(rules.length + 1)
})

test('the table of files to take away names the rules', () => {
  expect(readPage('docs/integrations.md')).toContain('`integrations/prometheus/`')
  expect(pathOf(`integrations/${RULES}`)).toContain('integrations')
})
