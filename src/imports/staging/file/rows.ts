import { unescapeCell } from '#src/model/csv-cells.ts'
import { FileRefused } from '../file-refused.ts'
import type { Preset } from '../presets/preset.ts'
import { CsvReader, type Delimiter } from './csv.ts'
import { readHeader } from './csv-header.ts'
import {
  columnMissing,
  columnsOfRejects,
  type Field,
  keysOfRejects,
  matchColumns,
  nameOf,
  namesOf,
} from './header.ts'
import { type Reader, readBlocks, type Sink } from './lines.ts'
import { NdjsonReader, openJsonFields } from './ndjson.ts'
import { HEAD, sniffFormat } from './sniff.ts'
import { type FileSource, peek } from './source.ts'

/** How the rows of a file are written, and what of them is read. */
export type Shape = {
  readonly format: 'csv' | 'ndjson'
  /** Null for NDJSON. */
  readonly delimiter: Delimiter | null
  /** The header of a CSV; null for NDJSON. */
  readonly columns: readonly string[] | null
  /** Field to column. */
  readonly mapped: Readonly<Record<string, string>>
  /** Columns that are not read. */
  readonly unused: readonly string[]
}

/** A file whose beginning has been read. */
export type OpenFile = {
  /** For NDJSON, which has no header, it is complete only when all rows have been read. */
  shape(): Shape
  /** Returns the column that a field is read from; null without one. */
  columnOf(field: number): string | null
  /** Reads all rows into the sink, and waits for `between` before each block. */
  readRows(sink: Sink, between: () => Promise<void>): Promise<void>
}

/** Reads the beginning of a file. Throws `FileRefused` if no rows can be read from it. */
export async function openFile(
  source: FileSource,
  fields: readonly Field[],
  preset: Preset | null,
): Promise<OpenFile> {
  const head = await peek(source.content, HEAD)
  const format = sniffFormat(head.bytes, source.name)
  const blocks = readBlocks(head.all)
  return format === 'csv'
    ? openCsv(source, blocks, fields, preset)
    : openNdjson(source, blocks, fields, preset)
}

type Blocks = ReturnType<typeof readBlocks>

async function openCsv(
  source: FileSource,
  blocks: Blocks,
  fields: readonly Field[],
  preset: Preset | null,
): Promise<OpenFile> {
  const header = await readHeader(blocks, source.name, fields, preset)
  const { delimiter } = header
  const rejectColumns = columnsOfRejects(header.columns, namesOf(fields))
  const columns = rejectColumns > 0 ? header.columns.map(unescapeCell) : header.columns
  const found = matchColumns(columns, fields)
  const used = new Set(found)
  const shape: Shape = {
    format: 'csv',
    delimiter,
    columns: [...header.columns],
    mapped: mappedTo(fields, field => columns[found[field] ?? -1]),
    unused: columns.filter((_, n) => !used.has(n) && n < columns.length - rejectColumns),
  }
  return {
    shape: () => shape,
    columnOf: field => columns[found[field] ?? -1] ?? null,
    async readRows(sink, between) {
      const into = rejectColumns > 0 ? unescaping(sink) : sink
      const csv = { delimiter, width: columns.length, columns: found }
      const reader = new CsvReader(csv, header.firstLine, into)
      reader.read(header.rest)
      await readAll(blocks, reader, between)
    },
  }
}

async function openNdjson(
  source: FileSource,
  blocks: Blocks,
  fields: readonly Field[],
  preset: Preset | null,
): Promise<OpenFile> {
  const json = openJsonFields(fields, preset?.inside)
  return {
    shape: () => ({
      format: 'ndjson',
      delimiter: null,
      columns: null,
      mapped: mappedTo(fields, field => json.keys[field]),
      unused: withoutRejectColumns([...json.unused], fields),
    }),
    columnOf: field => json.keys[field] ?? null,
    async readRows(sink, between) {
      const reader = new NdjsonReader(json.valuesOf, sink)
      await readAll(blocks, reader, between)
      const missing = fields.find((field, n) => field.required && json.keys[n] === undefined)
      if (missing && reader.rows > 0) throw columnMissing([...json.unused], missing)
      if (reader.rows === 0)
        throw new FileRefused(`No line of ${source.name} is a JSON object.`, 'Write one JSON object a line.')
    },
  }
}

export async function readAll(blocks: Blocks, reader: Reader, between: () => Promise<void>): Promise<void> {
  await between()
  for await (const block of blocks) {
    reader.read(block)
    await between()
  }
}

function mappedTo(
  fields: readonly Field[],
  columnOf: (field: number) => string | undefined,
): Record<string, string> {
  const pairs = fields.flatMap(({ name }, field) => {
    const column = columnOf(field)
    return column === undefined ? [] : [[name, column] as const]
  })
  return Object.fromEntries(pairs)
}

function withoutRejectColumns(keys: readonly string[], fields: readonly Field[]): readonly string[] {
  const added = keysOfRejects(keys, namesOf(fields))
  return added.size === 0 ? keys : keys.filter(key => !added.has(nameOf(key)) && key !== 'raw')
}

/** Returns the sink for a file of rejects, whose cells were escaped for spreadsheets. */
function unescaping(sink: Sink): Sink {
  const plain = (values: readonly unknown[]) =>
    values.map(value => (typeof value === 'string' ? unescapeCell(value) : value))
  return {
    row: (line, values, raw) => sink.row(line, plain(values), raw),
    faultOf: values => sink.faultOf(plain(values)),
    damaged: (...record) => sink.damaged(...record),
  }
}
