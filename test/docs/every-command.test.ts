import { globSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { checkQueue } from '#src/queue/check.ts'
import { hasRedisServer, startRedis } from '#test/support/own-redis.ts'
import { allCommands, commandsOf, type DocCommand, withoutMentions } from './doc-commands.ts'
import { ELSEWHERE } from './elsewhere.ts'
import { blocksOf, inlineCodeOf, PAGES, pathOf, readPage } from './pages.ts'
import { openReader } from './reader.ts'
import { NOT_IN_TABLE } from './stand-ins.ts'

/* Every command that the pages show is run, as a reader would: in the order of the page, blocks as a whole. */

const BY_PAGE = [...Map.groupBy(withoutMentions(allCommands()), ({ page }) => page)]

const isLinked = (home: string) =>
  expect(realpathSync(join(home, 'npm/bin/ferry'))).toBe(realpathSync(pathOf('bin/ferry')))

/** What the commands of a page must have left in the reader's home. */
const LEFT: Readonly<Record<string, (home: string) => void>> = {
  'CONTRIBUTING.md': home => {
    const written = globSync('drizzle/*_*.sql', { cwd: join(home, 'ferry-copy') }).sort()
    expect(written.at(-1)).toContain('what_changes')
    const read = (path: string) => readFileSync(join(home, 'ferry-copy', path), 'utf8')
    expect(read(written.at(-1) ?? '')).toContain('Changed.')
    expect(read('docs/schema.md')).toContain('Changed.')
    expect(JSON.parse(read('package.json')).version).toBe('0.3.0')
  },
  'README.md': isLinked,
  'docs/commands.md': isLinked,
  'docs/operators.md': home => {
    expect(statSync(join(home, 'secrets')).mode & 0o777).toBe(0o700)
    expect(readFileSync(join(home, 'secrets/postgres_password'), 'utf8')).toMatch(/^[0-9a-f]{48}\n$/)
  },
}

test.for(BY_PAGE)('the commands of %s do their work', async ([page, commands]) => {
  await using reader = await openReader()
  for (const command of commands) await reader.type(command)
  LEFT[page]?.(reader.home)
})

test('a command that fails, that nothing fills, or that needs Docker and is not in the table, is found', async () => {
  await using reader = await openReader()
  const inline = (text: string) => reader.type({ kind: 'inline', text })
  await expect(inline('ferry runs lists')).rejects.toThrow('ferry runs lists')
  await expect(inline('ferry runs show WHICH')).rejects.toThrow('placeholders')
  await expect(inline('ferry imports cancel 7')).rejects.toThrow(/cancel 7 --yes\n.*: expected \{ code: 2/s)
  const block = reader.type({ kind: 'block', text: 'true\ndocker compose down\ntrue\n' })
  await expect(block).rejects.toThrow(`code: ${NOT_IN_TABLE}`)
})

test('commands are found in blocks, in the text, and in lists', () => {
  const fence = '```'
  const markdown = `Run \`ferry a\nb\` or \`ferry c\`, not \`ferry\` or \`a word\`.

${fence}sh
FERRY_X=1 kubectl get pods
${fence}

${fence}text
ferry d e | f ID     words  [--g H]... [--i | --j]
ferry k l|m          words
other words
${fence}
`
  expect(commandsOf('page', markdown).map(({ text }) => text)).toEqual([
    'ferry a b',
    'ferry c',
    'FERRY_X=1 kubectl get pods\n',
    'ferry d e --g H --i',
    'ferry d e --j',
    'ferry d f ID',
    'ferry k l',
    'ferry k m',
  ])
  const inline = (text: string): DocCommand => ({ page: '', kind: 'inline', text })
  const commands = ['ferry a', 'ferry a b --c', 'ferry a --c', 'ferry a --d', 'ferry a --d'].map(inline)
  expect(withoutMentions(commands).map(({ text }) => text)).toEqual(['ferry a b --c', 'ferry a --d'])
})

test('no block of shell has a comment: zsh, the shell of macOS, gives its words to the command', () => {
  const blocks = PAGES.flatMap(page => blocksOf(readPage(page), 'sh').map(block => `${page}: ${block}`))
  expect(blocks.length).toBeGreaterThan(8)
  expect(blocks.filter(block => /\s#/.test(block))).toEqual([])
})

test('the pages have no other kind of block, in which a command would not be found', () => {
  const languages = new Set(
    PAGES.flatMap(page =>
      [...readPage(page).matchAll(/^ *```(.*)\n[\s\S]*?^ *```$/gm)].map(([, name]) => name),
    ),
  )
  expect([...languages].sort()).toEqual(['csv', 'json', 'mermaid', 'sh', 'sql', 'text'])
})

test('the table of commands that are not run as they stand has none that no page shows', () => {
  const shown = allCommands().map(({ text }) => text)
  expect(Object.keys(ELSEWHERE).filter(command => !shown.some(text => text.includes(command)))).toEqual([])
})

test.skipIf(!hasRedisServer)('Ferry works on a Redis as the user that docs/operators.md makes', async () => {
  const [line = ''] = inlineCodeOf(readPage('docs/operators.md')).filter(code => code.startsWith('ACL '))
  await using redis = await startRedis()
  const [command = '', ...words] = line.replace('>…', '>secret').split(' ')
  expect(await redis.admin.call(command, ...words)).toBe('OK')
  const redisUrl = redis.url.replace('://', '://ferry:secret@')
  expect(await checkQueue({ databaseUrl: '', redisUrl, installation: 'test' })).toMatch(/a job can be added$/)
})
