import { PAGES, readPage, sectionOf, shellCommandsOf } from './pages.ts'

/** Something that a page tells its reader to type: a block of shell as it stands there, or a command in the text. */
export type DocCommand = { readonly page: string; readonly kind: 'block' | 'inline'; readonly text: string }

/** History is not held against the program of today; the schema's page is made of the comments in the database. */
const READ_FOR_REFERENCE = ['CHANGELOG.md', 'docs/schema.md']

/** The sections of the README of which test/docs/quick-start.test.ts runs each line. */
const QUICK_START = ['Start with your own account', 'The `ferry` command', 'Import subscribers'].map(
  heading => sectionOf(readPage('README.md'), heading),
)

const PROGRAMS =
  'ferry|npm|npx|node|docker|docker-compose|openssl|psql|pg_dump|pg_restore|curl|kill|git|redis-cli|systemctl|kubectl|source|export|mkdir|cat'
const IS_COMMAND = new RegExp(
  `^(?:[A-Z_]+=\\S+ )*(?:(?:${PROGRAMS}) \\S|(?:\\./)?(?:bin/ferry|\\.ci/run)(?: |$))`,
)

const BLOCK_OR_CODE = /^```(\w*)\n([\s\S]*?)^```|`([^`\n]+(?:\n[^`\n]+)?)`/gm

/** Every command of every page, in the order of the page. */
export function allCommands(): DocCommand[] {
  return PAGES.filter(page => !READ_FOR_REFERENCE.includes(page)).flatMap(page =>
    commandsOf(page, readPage(page)),
  )
}

/** The commands of a page, in its order. A list of commands (`ferry runs list | show ID`) gives each of its own. */
export function commandsOf(page: string, markdown: string): DocCommand[] {
  return [...markdown.matchAll(BLOCK_OR_CODE)].flatMap(([all, language, block, code]): DocCommand[] => {
    if (language === 'sh') {
      const isQuickStart = QUICK_START.some(section => section.includes(all))
      return isQuickStart ? [] : [{ page, kind: 'block', text: block ?? '' }]
    }
    const texts =
      code === undefined
        ? (block ?? '').split('\n').flatMap(line => alternativesOf(line))
        : [code.replaceAll(/\s+/g, ' ')]
    return texts.filter(text => IS_COMMAND.test(text)).map(text => ({ page, kind: 'inline', text }))
  })
}

/**
 * What a line of the list of commands stands for: `ferry runs list | show ID   words  [--since T] [--all | --limit N]` is
 * `ferry runs list --since T --all`, `ferry runs list --limit N` and `ferry runs show ID`.
 */
function alternativesOf(line: string): string[] {
  const options = [...line.matchAll(/\[(--[^\]]+)\]/g)].map(([, option = '']) => option.split(' | '))
  const usage = line.replaceAll(/\[--[^\]]+\](?:\.\.\.)?/g, '').split(/ {2,}/)[0] ?? ''
  const [first = '', ...others] = usage.split(' | ')
  const group = first.split(' ').slice(0, 2).join(' ')
  const [word = '', ...instead] = (/\S+\|\S+/.exec(first)?.[0] ?? '').split('|')
  const single = first.replace(/(\S+?)\|\S+/, '$1')
  return [
    [single, ...options.map(([option]) => option)].join(' '),
    ...options.flatMap(([, ...others]) => others.map(other => `${single} ${other}`)),
    ...instead.map(other => single.replace(word, other)),
    ...others.map(other => `${group} ${other}`),
  ]
}

/**
 * Without those that only name a command which is run with more words elsewhere (`ferry imports resume`), and each text
 * once, where a reader of the pages meets it first.
 */
export function withoutMentions(commands: readonly DocCommand[]): DocCommand[] {
  const blocks = commands.filter(({ kind }) => kind === 'block').flatMap(({ text }) => text.split('\n'))
  const seen = new Set([...QUICK_START.flatMap(shellCommandsOf), ...blocks])
  const lines = new Set([...seen, ...commands.map(({ text }) => text)])
  return commands.filter(({ kind, text }) => {
    if (kind === 'block') return true
    const isMention = [...lines].some(line => line !== text && isNamedIn(text, line))
    if (isMention || seen.has(text)) return false
    seen.add(text)
    return true
  })
}

/** Whether all words of a command stand in a line, in this order. */
function isNamedIn(command: string, line: string): boolean {
  const words = line.split(/\s+/)
  let from = 0
  return command.split(' ').every(word => {
    const at = words.indexOf(word, from)
    from = at + 1
    return at !== -1
  })
}
