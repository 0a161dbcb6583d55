import type { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { EXAMPLES } from '#src/cli/examples.ts'
import { createProgram } from '#src/cli/program.ts'
import { openCli } from './open-cli.ts'
import { runFerryHere } from './run-ferry.ts'

const PATHS = pathsOf(await createProgram([]))

function pathsOf(command: Command, above: readonly string[] = []): { path: string; command: Command }[] {
  const words = [...above, command.name()]
  return [{ path: words.join(' '), command }, ...command.commands.flatMap(each => pathsOf(each, words))]
}

test('ferry --help has each command in a group of those that belong together', async () => {
  const { stdout } = await runFerryHere(['--help'])
  const groups = [
    ...stdout.slice(stdout.indexOf('Run Ferry:')).matchAll(/^([A-Z][\w ]+):\n((?: {2}.*\n)+)/gm),
  ].map(([, name, lines = '']) => [name, [...lines.matchAll(/^ {2}([a-z-]+) /gm)].map(([, word]) => word)])
  expect(groups).toEqual([
    ['Run Ferry', ['up', 'worker', 'run-due', 'demo', 'sandbox']],
    ['Rules and servers', ['sync', 'rules', 'servers', 'changes', 'at', 'report', 'snapshots', 'runs']],
    ['Subscribers', ['import', 'imports']],
    [
      'Keep it running',
      ['doctor', 'freshness', 'schedules', 'notify', 'audit', 'migrate', 'embedded', 'prune', 'verify'],
    ],
    ['Help', ['completion', 'help']],
    ['Examples', ['ferry', 'ferry']],
  ])
})

test('every help, word for word', async () => {
  const helps: string[] = []
  for (const { path } of PATHS)
    helps.push((await runFerryHere([...path.split(' ').slice(1), '--help'])).stdout)
  await expect(helps.join('\n')).toMatchFileSnapshot('help.txt')
})

describe('the help of', () => {
  test('each command ends with two examples, and there are no others', async () => {
    expect(PATHS.map(({ path }) => path).sort()).toEqual(Object.keys(EXAMPLES).sort())
    for (const { path } of PATHS) {
      const { stdout } = await runFerryHere([...path.split(' ').slice(1), '--help'])
      expect(
        stdout.endsWith(`\nExamples:\n${EXAMPLES[path]!.map(line => `  ${line}\n`).join('')}`),
        path,
      ).toBe(true)
    }
  })

  test('no option has its default twice', () => {
    const doubled = PATHS.flatMap(({ path, command }) =>
      command.options
        .map(option => `${path} ${option.flags}: ${command.createHelp().optionDescription(option)}`)
        .filter(line => line.split('default').length > 2 || line.includes('(default: [])')),
    )
    expect(doubled).toEqual([])
  })
})

test.for(Object.entries(EXAMPLES))(
  'the examples of `%s` are commands of it, with options and values that it takes',
  async ([path, examples]) => {
    for (const example of examples) {
      const words = wordsOf(example)
      if (path !== 'ferry') expect(words.join(' ').startsWith(path)).toBe(true)
      if (words[1] === 'completion') continue // test/cli/completion.test.ts runs it
      const program = await createProgram([])
      let ran = false
      for (const { command } of pathsOf(program)) {
        command.configureOutput({ writeErr: () => {}, writeOut: () => {} })
        if (command.commands.length === 0) {
          command.action(() => {
            ran = true
          })
        }
      }
      await program.parseAsync(words.slice(1), { from: 'user' })
      expect(ran, example).toBe(true)
    }
  },
)

test('the examples that only read do so on a database with one of everything', async () => {
  await using cli = await openCli({ rules: 3, servers: 2 })
  await cli.ferryRun('sync all')
  for (const look of ['snapshots take', 'snapshots take']) await cli.ferryRun(look)
  const reading = Object.entries(EXAMPLES)
    .filter(([path]) => / (list|diff|changes|at|report|freshness|audit)$/.test(path))
    .flatMap(([, examples]) => examples)
  expect(reading.length).toBeGreaterThan(20)
  for (const example of new Set([...reading, ...EXAMPLES['ferry runs show']!])) {
    const { code, stderr } = await runFerryHere(wordsOf(example).slice(1), cli.env)
    // An example may name a moment before the first reading, which is told on stderr.
    expect({ example, code, unexpected: stderr.includes('unexpected') }).toEqual({
      example,
      code: example.startsWith('ferry freshness') ? expect.any(Number) : 0,
      unexpected: false,
    })
  }
})

/** The words of a command as a shell makes them, without settings before it and what a shell does with its output. */
function wordsOf(line: string): string[] {
  const command = line
    .replace(/^(?:[A-Z_]+=\S+ )+/, '')
    .replace(/^source <\((.*)\)$/, '$1')
    .replace(/ > .*$/, '')
  return [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '')
}
