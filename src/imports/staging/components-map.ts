import { isRounded, ROUNDED } from './checks/values.ts'
import { CsvReader } from './file/csv.ts'
import { readHeader, withoutHint } from './file/csv-header.ts'
import { readBlocks } from './file/lines.ts'
import { openSource } from './file/source.ts'
import { FileRefused } from './file-refused.ts'

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
