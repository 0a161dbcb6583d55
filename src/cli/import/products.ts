import { fieldsOfProduct, PRESET_NAMES } from '#src/imports/staging/presets/presets.ts'

const WIDTH = 78
const INDENT = '              '

/** The columns that `--from` reads of each product, for `--help`. */
export function columnsOfProducts(): string {
  const products = PRESET_NAMES.map(product => {
    const fields = fieldsOfProduct(product).map(
      ({ columns, required }) => columns.join(' or ') + (required ? '*' : ''),
    )
    return `  ${product}`.padEnd(INDENT.length) + wrapped(fields)
  })
  return `Columns that --from reads, or keys of NDJSON, whatever their case (* needed):\n${products.join('\n')}\n`
}

function wrapped(fields: readonly string[]): string {
  const lines = ['']
  for (const [n, field] of fields.entries()) {
    for (const word of `${field}${n < fields.length - 1 ? ';' : ''}`.split(' ')) {
      const line = lines.at(-1) ?? ''
      if (line !== '' && INDENT.length + line.length + 1 + word.length > WIDTH) lines.push(word)
      else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`
    }
  }
  return lines.join(`\n${INDENT}`)
}
