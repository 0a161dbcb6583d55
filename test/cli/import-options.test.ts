import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { expect, test } from 'vitest'
import { addOptions, columnsOfProducts } from '#src/cli/import/options.ts'
import { fieldsOf, nameOf } from '#src/imports/staging/file/header.ts'
import { PRESET_NAMES, PRESETS } from '#src/imports/staging/presets/presets.ts'

const PAGE = readFileSync(new URL('../../docs/imports.md', import.meta.url), 'utf8')

test('docs/imports.md shows every option of an import, and no other', () => {
  const [, table = ''] = /\| Option \| What it does \|\n([\s\S]*?)\n\n/.exec(PAGE) ?? []
  const shown = [...table.matchAll(/^\| `(--[a-z-]+)/gm)].map(([, option]) => option)
  const { options } = addOptions(new Command())

  expect(shown.sort()).toEqual(
    options
      .map(({ long }) => long)
      .filter(long => long !== '--json')
      .sort(),
  )
})

test('docs/imports.md and --help show every column that --from reads, and which are needed', () => {
  for (const product of PRESET_NAMES) {
    const row = PAGE.split('\n').find(line => line.startsWith(`| \`${product}\` |`)) ?? ''
    const shown = [...row.matchAll(/`([^`]+)`(\*?)/g)].map(
      ([, column = '', needed]) => nameOf(column) + needed,
    )
    const own = new Set(fieldsOf(null, {}).flatMap(({ columns }) => columns))
    const order = shown.map(name => name.replace('*', ''))
    for (const { columns, required } of fieldsOf(PRESETS[product], {})) {
      const places = columns.map(column => order.indexOf(nameOf(column))).filter(place => place !== -1)
      expect(places).toEqual([...places].sort((a, b) => a - b))
      expect(columnsOfProducts()).toContain(columns[0])
      const documented = columns.filter(column => !own.has(column))
      for (const column of documented)
        expect(shown.map(name => name.replace('*', ''))).toContain(nameOf(column))
      if (required)
        expect(columns.map(column => `${nameOf(column)}*`).some(column => shown.includes(column))).toBe(true)
    }
  }
})
