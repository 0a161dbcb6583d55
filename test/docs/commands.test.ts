import { Command } from 'commander'
import { expect, test } from 'vitest'
import { createProgram } from '#src/cli/program.ts'
import { SETTINGS } from '#src/config/settings.ts'
import { ADMIN_COMMANDS } from '#src/sandbox/admin.ts'
import { openSandbox } from '#src/sandbox/sandbox.ts'
import { blocksOf, inlineCodeOf, PAGES, readPage, shellCommandsOf } from './pages.ts'

/* Every command that the pages show exists, with every option shown. */

/** Programs of the machine that the pages use, and that no test here starts. */
const OTHERS = ['mkdir', 'openssl', 'printf', 'sed', 'docker', 'kubectl', 'curl', 'git', 'source', 'nvm']

/** History is not held against the program of today. */
const CURRENT_PAGES = PAGES.filter(page => page !== 'CHANGELOG.md')

test.for(CURRENT_PAGES.filter(page => shellCommandsOf(readPage(page)).length > 0))(
  'the program accepts every command in the shell blocks of %s',
  async page => {
    for (const line of shellCommandsOf(readPage(page))) await expectAccepted(line)
  },
)

test('a command that does not exist, an option that does not, and a wrong value are found', async () => {
  await expect(expectAccepted('ferry runs lists')).rejects.toThrow()
  await expect(expectAccepted('ferry runs list --acount a')).rejects.toThrow()
  await expect(expectAccepted('ferry import people.csv')).rejects.toThrow('--page')
  await expect(expectAccepted('FERRY_BASEURL=x npm start')).rejects.toThrow('FERRY_BASEURL')
  await expect(expectAccepted('npm run demos')).rejects.toThrow('demos')
})

test('every `ferry …` in the text of the pages is a command, and has the options named with it', async () => {
  const program = await createProgram([])
  const named = CURRENT_PAGES.flatMap(page =>
    inlineCodeOf(readPage(page))
      .filter(code => /^(?:bin\/)?ferry [a-z]/.test(code))
      .map(code => `${page}: ${code}`),
  )
  expect(named.length).toBeGreaterThan(30)
  expect(named.filter(line => !isKnown(program, wordsOf(line.replace(/^.*?ferry /, ''))))).toEqual([])
})

test('every `npm run` in the pages is a script of package.json', () => {
  const { scripts }: { scripts: Record<string, string> } = JSON.parse(readPage('package.json'))
  const named = CURRENT_PAGES.flatMap(page => [...readPage(page).matchAll(/npm run ([\w:-]+)/g)])
  expect(named.length).toBeGreaterThan(5)
  expect(named.map(([, script = '']) => script).filter(script => !(script in scripts))).toEqual([])
})

test('docs/commands.md shows every command and subcommand', async () => {
  const program = await createProgram([])
  const lines = blocksOf(readPage('docs/commands.md'), 'text')[0]?.split('\n') ?? []
  for (const command of program.commands) {
    const line = lines.filter(line => line.startsWith(`ferry ${command.name()} `)).join('\n')
    expect(line, command.name()).not.toBe('')
    for (const part of command.commands) expect(line).toContain(` ${part.name()}`)
    const options = [...line.matchAll(/--[a-z-]+/g)].map(([option]) => option)
    const known = [command, ...command.commands].flatMap(optionsOf)
    expect(options.filter(option => !known.includes(option))).toEqual([])
  }
})

test('docs/sandbox.md shows every option and every admin command, and the calls it shows are answered', async () => {
  const page = readPage('docs/sandbox.md')
  const sandboxCommand = (await createProgram([])).commands.find(command => command.name() === 'sandbox')
  const options = optionsOf(sandboxCommand ?? new Command())
  expect(options).toContain('--fault')
  expect([...options, ...Object.keys(ADMIN_COMMANDS)].filter(name => !page.includes(name))).toEqual([])

  await using sandbox = await openSandbox()
  const calls = shellCommandsOf(page).flatMap(line => [
    ...line.matchAll(/-d '(.+)'\s+http:\/\/[\d.:]+(\/\S+)/g),
  ])
  expect(calls.length).toBeGreaterThan(1)
  for (const [, body = '', path = ''] of calls) {
    const response = await fetch(`${sandbox.baseUrl}${path}`, { method: 'POST', body })
    expect(response.status, path).toBe(200)
  }
})

/** Fails unless the program, npm and the settings know everything in a line of shell. */
async function expectAccepted(line: string): Promise<void> {
  for (const command of line.split(/\s&&\s|\s\|\s/)) {
    const words = wordsOf(command.replace(/^source <\((.*)\)$/, '$1'))
    while (/^[A-Z_]+=/.test(words[0] ?? '')) expectSetting(words.shift()?.split('=')[0] ?? '')
    const [program = '', ...rest] = words
    const ferryAt = words.findIndex(
      word => word === 'ferry' || /^(?:bin|src\/cli)\/ferry(?:\.ts)?$/.test(word),
    )
    if (program === 'kubectl') continue
    if (ferryAt !== -1) await expectParsed(words.slice(ferryAt + 1))
    else if (program === 'npm') expectNpm(rest)
    else if (!OTHERS.includes(program)) throw new Error(`unknown program: ${line}`)
  }
}

/** Lets the real program parse the words, with all its checks of values; what it would do is not done. */
async function expectParsed(words: readonly string[]): Promise<void> {
  const program = await createProgram([])
  for (const command of allOf(program)) {
    command.configureOutput({ writeErr: () => {}, writeOut: () => {} })
    // A group of commands has no action: with one, it would take any word as its own.
    if (command.commands.length === 0) command.action(() => {})
  }
  await program.parseAsync(words, { from: 'user' })
}

function allOf(command: Command): Command[] {
  return [command, ...command.commands.flatMap(allOf)]
}

function expectSetting(name: string): void {
  const known = [...SETTINGS.map(setting => setting.name), 'NODE_EXTRA_CA_CERTS', 'FERRY_BENCH_DATABASE_URL']
  const forTests = ['FERRY_TEST_DATABASE_URL', 'FERRY_TEST_SUPERUSER_URL', 'FERRY_TEST_REDIS_URL']
  if (![...known, ...forTests].includes(name)) throw new Error(`unknown setting: ${name}`)
}

function expectNpm([command = '', script = '']: readonly string[]): void {
  const { scripts }: { scripts: Record<string, string> } = JSON.parse(readPage('package.json'))
  if (['ci', 'install', 'link', 'pack', 'sbom', 'version'].includes(command)) return
  const name = command === 'run' ? script : command
  if (!(name in scripts)) throw new Error(`unknown script: npm ${command} ${script}`)
}

/** Whether the words lead to a command and every option among them is one of it; placeholders may be anything. */
function isKnown(command: Command, words: readonly string[]): boolean {
  const [word = '', ...rest] = words
  const subcommand = command.commands.find(each => each.name() === word)
  if (subcommand) return isKnown(subcommand, rest)
  if (command.commands.length > 0 && word !== '') return /^(?:[A-Z…]|--help)/.test(word)
  return words.every(word => !word.startsWith('--') || optionsOf(command).includes(word))
}

function optionsOf(command: Command): string[] {
  return command.options.flatMap(({ long }) => long ?? [])
}

/** Words as a shell makes them, as far as the pages need it. */
function wordsOf(command: string): string[] {
  return [...command.matchAll(/(?:[^\s'"]|'[^']*'|"[^"]*")+/g)].map(([word]) =>
    word.replaceAll(/'([^']*)'|"([^"]*)"/g, '$1$2'),
  )
}
