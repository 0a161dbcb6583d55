import type { RowRules } from '#src/imports/staging/checks/row.ts'
import { isRounded, localeKey, openLocaleCheck, ROUNDED } from '#src/imports/staging/checks/values.ts'
import { CsvReader } from '#src/imports/staging/file/csv.ts'
import { readHeader, withoutHint } from '#src/imports/staging/file/csv-header.ts'
import { fieldsOf } from '#src/imports/staging/file/header.ts'
import { readBlocks } from '#src/imports/staging/file/lines.ts'
import { expectFile, openSource } from '#src/imports/staging/file/source.ts'
import { PRESETS } from '#src/imports/staging/presets/presets.ts'
import { FileRefused } from './file-refused.ts'
import type { ImportOptions } from './options.ts'

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

/**
 * Reads the file given by `--components`: on each line the id of a component in the old product, and its id on the platform.
 * A header does no harm: it is read as a pair that no row uses. Throws `FileRefused` for a line that is not such a pair.
 */
export async function readComponentsMap(
  path: string,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  await using source = await openSource(path, signal)
  const components = new Map<string, string>()
  const refuse = (line: number, why: string) =>
    new FileRefused(
      `Line ${line} of ${path} ${why}.`,
      'Each line must have two ids separated by a comma: the id of the old component and the id of the new one.',
    )
  const sink = {
    row(line: number, values: readonly unknown[]) {
      const [old, next] = values.map(value => String(value).trim())
      if (!old || !next) throw refuse(line, 'has an empty id')
      const rounded = [old, next].find(isRounded)
      if (rounded !== undefined) {
        throw refuse(line, `has ${rounded} in column ${rounded === old ? 1 : 2}: ${ROUNDED}`)
      }
      const before = components.get(old)
      if (before !== undefined && before !== next)
        throw refuse(line, 'maps a component that an earlier line maps to another id')
      components.set(old, next)
    },
    faultOf: () => null,
    damaged(line: number, _reason: string, message: string) {
      throw refuse(line, `is not a pair of ids: ${message}`)
    },
  }
  const blocks = readBlocks(source.content)
  const { delimiter, head } = await readHeader(blocks, path, [], null)
  const { line, rest } = withoutHint(head)
  const reader = new CsvReader({ delimiter, width: 2, columns: [0, 1] }, line, sink)
  reader.read(rest)
  for await (const block of blocks) reader.read(block)
  await source.expectUnchanged()
  return components
}
