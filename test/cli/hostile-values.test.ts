import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Command } from 'commander'
import { expect, onTestFinished, test } from 'vitest'
import { createProgram } from '#src/cli/program.ts'
import { type Cli, openCli } from './open-cli.ts'
import { FERRY, runFerryHere, startFerry } from './run-ferry.ts'

/** None of these is an id, an instant, a number, a name that exists or a choice. */
const HOSTILE = {
  'a word': 'abc',
  'a number below 0': '-1',
  'a number beyond 64 bits': '18446744073709551616',
  'a number with an exponent': '1e3',
  'a digit of another script': '９',
  nothing: '',
  'a space': ' ',
  'a very long text': 'x'.repeat(10_000),
  'a control character': 'a\u001b[2Jb',
  'a mark that reverses text': '\u202eevil\u2066',
  'a member of every object': '__proto__',
} as const

/** These take any text. A new parameter is refused a hostile value, or is named here. */
const TAKES_ANY_TEXT = [
  '--name',
  '--by',
  '--because',
  '--out',
  'audit --as',
  'address',
  'import --method',
].concat(['at --team', '--match'])

/** Who does something may have any name. */
const isActor = (command: Command, name: string) =>
  name === '--as' && command.options.find(({ long }) => long === '--as')?.mandatory !== true

type Parameter = { readonly name: string; readonly isArgument: boolean }
type Leaf = { readonly path: readonly string[]; readonly command: Command }

function leavesOf(command: Command, path: readonly string[] = []): Leaf[] {
  if (command.commands.length === 0) return [{ path, command }]
  return command.commands.flatMap(child => leavesOf(child, [...path, child.name()]))
}

function parametersOf({ command }: Leaf): Parameter[] {
  return [
    ...command.registeredArguments.map(argument => ({ name: argument.name(), isArgument: true })),
    ...command.options
      .filter(option => option.required || option.optional)
      .map(option => ({ name: option.long ?? '', isArgument: false })),
  ]
}

/** The words of a command that is right, but for one value. */
function wordsOf({ path, command }: Leaf, parameter: Parameter, value: string, file: string): string[] {
  const right: Readonly<Record<string, string>> = {
    id: '1',
    a: '1',
    b: '2',
    inventory: 'alert-rules',
    time: '1h',
    name: path[0] === 'report' ? 'nights' : 'prune',
    file,
    '--page': '1',
    '--as': 'sent',
  }
  // A file is written there.
  const placed = parameter.name === '--out' ? join(dirname(file), `_${value}`) : value
  const mandatory = command.options.filter(option => option.mandatory && option.long !== parameter.name)
  const isAsked = command.options.some(({ long }) => long === '--yes') && path[0] !== 'import'
  return [
    ...path,
    ...mandatory.map(({ long }) => `${long}=${right[long ?? '']}`),
    ...(parameter.isArgument ? [] : [`${parameter.name}=${placed}`]),
    ...(path.join() === 'import' ? ['--dry-run', '--all'] : isAsked ? ['--yes'] : []),
    '--',
    ...command.registeredArguments
      .filter(argument => argument.required || argument.name() === parameter.name)
      .map(argument =>
        parameter.isArgument && argument.name() === parameter.name ? value : (right[argument.name()] ?? ''),
      ),
  ]
}

/** A database with two runs, two snapshots and an import, so that what is refused is the value. */
async function setup(): Promise<{ readonly cli: Cli; readonly file: string }> {
  const cli = await openCli({ rules: 3, servers: 2 })
  const directory = mkdtempSync(join(tmpdir(), 'ferry-hostile-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const file = join(directory, 'people.csv')
  writeFileSync(file, 'email,locale\nada@example.com,en-US\n')
  for (const command of ['snapshots take', 'snapshots take', `import ${file} --page 1 --all --yes`]) {
    expect(await cli.ferryRun(command)).toMatchObject({ code: 0 })
  }
  return { cli, file }
}

/** What a hostile value did that it may not do. */
function faultsOf(
  parameter: string,
  value: string,
  ended: { code: number | null; stdout: string; stderr: string },
) {
  const { code, stdout, stderr } = ended
  const shown = stdout + stderr
  const named = [parameter, value.slice(0, 20), '�evil', '�[2J', '\\u001b[2J'].some(text =>
    stderr.includes(text),
  )
  return [
    /\n {4}at |is unexpected/.test(shown) && 'a stack',
    /[^\P{Cc}\n]|\p{Bidi_Control}/u.test(shown) && 'control characters',
    stderr.length > 1_000 && `${stderr.length} characters`,
    stderr.trim().split('\n').length > 3 && 'many lines',
    code === 2 && !named && 'what is wrong is not named',
    code === 2 && stdout !== '' && 'a result',
  ].filter(fault => fault !== false)
}

/** Services are started in the next test; completion takes the names of shells; these tests use no embedded Postgres. */
const ELSEWHERE = ['up', 'worker', 'demo', 'sandbox', 'completion', 'embedded']

test('no value of any parameter of any command makes it print a stack, and one that means nothing exits 2', async () => {
  const { cli, file } = await setup()
  await using _ = cli
  const program = await createProgram([process.execPath, FERRY])
  const faults: string[] = []
  for (const leaf of leavesOf(program).filter(({ path }) => !ELSEWHERE.includes(path[0] ?? ''))) {
    for (const parameter of parametersOf(leaf)) {
      const full = `${leaf.path.join(' ')} ${parameter.name}`
      const takesAny =
        TAKES_ANY_TEXT.some(name => full.endsWith(` ${name}`) || full === name) ||
        isActor(leaf.command, parameter.name)
      for (const [what, value] of Object.entries(HOSTILE)) {
        const ended = await runFerryHere(wordsOf(leaf, parameter, value, file), cli.env).catch(error => ({
          code: null,
          stdout: '',
          stderr: `${error}\n    at `,
        }))
        const found: (string | false)[] = faultsOf(parameter.name, value, ended)
        found.push(!takesAny && ended.code !== 2 && `exit ${ended.code}`)
        for (const fault of found)
          if (fault) faults.push(`${full}, ${what}: ${fault}: ${ended.stderr.slice(0, 200)}`)
      }
    }
  }
  expect(faults).toEqual([])
})

test.for(['--port', '--rules', '--servers', '--latency', '--change-every', '--fault'])(
  'the sandbox refuses a hostile %s',
  async parameter => {
    const faults: string[] = []
    for (const [what, value] of Object.entries(HOSTILE)) {
      await using ferry = startFerry(['sandbox', `${parameter}=${value}`])
      const ended = await Promise.race([
        ferry.ended,
        ferry.printed('Ctrl-C').then(
          () => null,
          () => ferry.ended,
        ),
      ])
      if (ended?.code !== 2) faults.push(`${what}: exit ${ended?.code}`)
      else faults.push(...faultsOf(parameter, value, ended).map(fault => `${what}: ${fault}`))
    }
    expect(faults).toEqual([])
  },
)
