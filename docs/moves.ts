import { fileURLToPath } from 'node:url'
import { IMPORT_STATUSES } from '#src/model/import.ts'
import { FIRST_STATUS, IMPORT_RULES, type ImportRule, type Left } from '#src/model/import-moves.ts'

/* The moves of an import, as a picture in docs/architecture.md and as text in src/model/import.ts. */

export const STATUSES_SOURCE = fileURLToPath(new URL('../src/model/import.ts', import.meta.url))

const LEFT_WORDS: Readonly<Record<Left, string>> = {
  file: 'if its file is being read',
  rows: 'if rows are left',
  uncertain: 'if uncertain rows are left',
  nothing: 'if nothing is left',
}

type Arrow = { readonly from: string; readonly to: string; readonly events: string }

/** Every change of status, in the order of the statuses, with the events that cause it. */
function arrows(): Arrow[] {
  return IMPORT_STATUSES.flatMap(from =>
    IMPORT_STATUSES.filter(to => to !== from).flatMap(to => {
      const rules = IMPORT_RULES.filter(rule => rule.from.includes(from) && 'to' in rule && rule.to === to)
      return rules.length === 0 ? [] : [{ from, to, events: rules.map(wordsOf).join(', ') }]
    }),
  )
}

function wordsOf({ event, left }: ImportRule): string {
  return left === undefined ? event : `${event} ${LEFT_WORDS[left]}`
}

const BEGIN = '<!-- moves: made by `npm run docs` -->\n'
const END = '<!-- end of moves -->'

/** Returns the page with the picture of the moves as it should be. */
export function withMoves(page: string): string {
  const [before = '', rest = ''] = page.split(BEGIN)
  const [, after = ''] = rest.split(END)
  const lines = arrows().map(({ from, to, events }) => `    ${from} --> ${to}: ${events}\n`)
  const picture = `\`\`\`mermaid\nstateDiagram-v2\n    [*] --> ${FIRST_STATUS}\n${lines.join('')}\`\`\``
  return `${before}${BEGIN}\n${picture}\n\n${END}${after}`
}

const COMMENT = ' * Where an import stands. `npm run docs` writes this list from `import-moves.ts`:\n *\n'

/** Returns the source with the list of the moves above the statuses as it should be. */
export function withMovesInComment(source: string): string {
  const [before = '', after = ''] = source.split(COMMENT)
  const width = Math.max(...IMPORT_STATUSES.map(status => status.length))
  const lines = arrows().map(
    ({ from, to, events }) => ` *     ${from.padEnd(width)} ──► ${to.padEnd(width)}  ${events}\n`,
  )
  return before + COMMENT + lines.join('') + after.replace(/^( \* {5}.*\n)*/, '')
}
