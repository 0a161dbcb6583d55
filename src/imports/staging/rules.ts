import { localeKey, openLocaleCheck } from './checks/locale.ts'
import type { RowRules } from './checks/row.ts'
import { readComponentsMap } from './components-map.ts'
import { fieldsOf } from './file/header.ts'
import { expectFile } from './file/source.ts'
import { FileRefused } from './file-refused.ts'
import type { ImportOptions } from './options.ts'
import { PRESETS } from './presets/presets.ts'

/** Throws the `FileRefused` that staging would begin with: no such file, no such field, no such locale. Reads no file. */
export async function expectStageable(path: string, options: ImportOptions): Promise<void> {
  expectOneStdin(path, options)
  for (const file of [path, options.components, options.suppress]) {
    if (file !== null && file !== '-') await expectFile(file)
  }
  fieldsBy(options)
}

/** Throws `FileRefused` if stdin is to be two files. */
export function expectOneStdin(path: string, { components, suppress }: ImportOptions): void {
  if ([path, components, suppress].filter(file => file === '-').length < 2) return
  throw new FileRefused(
    'stdin is named twice, but can be read only once.',
    'Name the other file by its path.',
  )
}

/** Returns the rules by which rows are checked. Reads the file given by `--components`. Throws `FileRefused`. */
export async function readRules(options: ImportOptions, signal: AbortSignal): Promise<RowRules> {
  const { method, lenientAddresses, defaultLocale, mapLocale, all, components, from } = options
  const fields = fieldsBy(options)
  const map = components === null ? null : await readComponentsMap(components, signal)
  const preset = from === null ? null : PRESETS[from]
  const locales = new Map(Object.entries(mapLocale).map(([value, locale]) => [localeKey(value), locale]))
  return { method, lenientAddresses, defaultLocale, locales, all, preset, fields, components: map }
}

function fieldsBy({ defaultLocale, mapLocale, from, map }: ImportOptions): RowRules['fields'] {
  const isLocale = openLocaleCheck()
  const given = Object.entries(mapLocale).map(([value, locale]) => [`--map-locale ${value}=`, locale])
  if (defaultLocale !== null) given.push(['--default-locale ', defaultLocale])
  for (const [option = '', locale = ''] of given) {
    if (isLocale(locale)) continue
    throw new FileRefused(
      `${option}${locale}: ${locale} is not a locale.`,
      'Write a language and a region that exist, such as en-US.',
    )
  }
  return fieldsOf(from === null ? null : PRESETS[from], map)
}
