import { fileURLToPath } from 'node:url'
import { cruise } from 'dependency-cruiser'
import extractDepcruiseOptions from 'dependency-cruiser/config-utl/extract-depcruise-options'

/* The part of docs/architecture.md that is made from the imports and from .dependency-cruiser.mjs. */

export const ARCHITECTURE_PAGE = fileURLToPath(new URL('architecture.md', import.meta.url))

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const BEGIN = '<!-- rooms: made by `npm run docs` -->\n'
const END = '<!-- end of rooms -->'

/** A path up to its room: `src/config.ts` and `src/config/values.ts` are in one, `src/imports/staging` is its own. */
const ROOM = '^src/imports/[^/.]+(?=/)|^src/[^/.]+|^jobs'

/** Returns the page with the table and the picture of the rooms as they should be. */
export async function withRooms(page: string): Promise<string> {
  const [before = '', rest = ''] = page.split(BEGIN)
  const [, after = ''] = rest.split(END)
  return `${before}${BEGIN}\n${await roomTable()}\n${await roomPicture()}\n${END}${after}`
}

/** Every room with what it is for, as Markdown: the comments of the rules. */
async function roomTable(): Promise<string> {
  const { ruleSet } = await loadOptions()
  const rows = (ruleSet?.forbidden ?? [])
    .map(({ name = '', comment = '' }) => ({ room: /^room ([a-z/]+)$/.exec(name)?.[1], comment }))
    .filter(({ room }) => room !== undefined)
    .map(({ room, comment }) => `| \`${room === 'jobs' ? 'jobs' : `src/${room}`}\` | ${comment} |\n`)
  return `| Room | What it is for |\n| --- | --- |\n${rows.join('')}`
}

/** Which room imports which today, as a Mermaid picture; without `cli` and `model`, which have arrows from and to most. */
async function roomPicture(): Promise<string> {
  const { output } = await cruiseRooms({
    outputType: 'mermaid',
    includeOnly: '^(src|jobs)/',
    exclude: '^src/(cli|model)/',
    collapse: ROOM,
  })
  return `\`\`\`mermaid\n${sortArrows(String(output).trim())}\n\`\`\`\n`
}

/** The arrows come last, in the order in which files import: sorted, a moved import does not change the picture. */
function sortArrows(picture: string): string {
  const [nodes = '', ...arrows] = picture.split(/\n(?=\w+-->)/)
  return [nodes, ...arrows.sort()].join('\n')
}

/** Reads the imports of src/ and jobs/, or of those below another directory, and holds them against the rules. */
export async function cruiseRooms(options: Parameters<typeof cruise>[1] = {}) {
  return cruise(['src', 'jobs'], { ...(await loadOptions()), validate: true, baseDir: ROOT, ...options })
}

function loadOptions() {
  return extractDepcruiseOptions(fileURLToPath(new URL('../.dependency-cruiser.mjs', import.meta.url)))
}
