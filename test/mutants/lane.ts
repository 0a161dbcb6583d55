import { execFile, spawn } from 'node:child_process'
import { cp, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { promisify } from 'node:util'
import type { TestServer } from '#test/support/server.ts'
import type { Made } from './make.ts'

/** Whether the tests noticed; `witness` is the first that did, null if a file could not even be loaded or never ended. */
export type Verdict =
  | { readonly kind: 'killed'; readonly by: string; readonly witness: Witness | null }
  | { readonly kind: 'survived' }
  | { readonly kind: 'stale' | 'broken'; readonly why: string }

/** What is tried: a change of a file, and the tests that are to notice it. */
export type Trial = {
  readonly name: string
  readonly tests: readonly string[]
  readonly only: string | null
  /** Why no test can notice it; null for one that must be noticed. */
  readonly harmless: string | null
  make(): Made | { readonly stale: string }
}

/** A copy of the code, in which one mutant at a time is tried. */
export type Lane = {
  /** Runs the tests of these mutants on the code as it is; throws if one fails: then it could tell no mutant. */
  proveSound(mutants: readonly Trial[]): Promise<void>
  /** Tries a mutant; who noticed it the last time is asked first. */
  try(mutant: Trial, last: Witness | undefined): Promise<Verdict>
  /** Makes all of these mutants at once, runs every test, and returns the files in which one failed. */
  tryTogether(mutants: readonly Trial[]): Promise<readonly string[]>
  /** Whether a test that noticed a mutant succeeds on the code as it is. */
  isSound(witness: Witness): Promise<boolean>
}

/** A test that noticed a mutant. */
export type Witness = { readonly file: string; readonly title: string }

/** A mutant may well never end. One file, several, and all. */
const LONGEST_MS = 240_000
const LONGEST_OF_SEVERAL_MS = 600_000
const LONGEST_OF_ALL_MS = 2_400_000

/** What a run of vitest leaves behind, as far as it is of interest here. */
type Report = {
  readonly numPassedTests: number
  readonly testResults: readonly {
    readonly name: string
    readonly status: string
    readonly message: string
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[]
  }[]
}

/** Copies the code of `root` to `directory`, where tests then run on a Postgres. */
export async function openLane(
  root: string,
  directory: string,
  { serverUrl, superuserUrl }: TestServer,
  signal: AbortSignal,
): Promise<Lane> {
  const left = ['node_modules', '.git', '.ferry', `bench${sep}results`].map(name => join(root, name))
  await cp(root, directory, { recursive: true, filter: source => !left.includes(source) })
  // Packages are shared, but what vitest keeps among them is the lane's own.
  await mkdir(join(directory, 'node_modules'))
  for (const name of await readdir(join(root, 'node_modules'))) {
    if (name.startsWith('.') && name !== '.bin') continue
    await symlink(join(root, 'node_modules', name), join(directory, 'node_modules', name))
  }
  const { FERRY_TEST_REDIS_URL: _, ...environment } = process.env
  const env = {
    ...environment,
    FERRY_TEST_DATABASE_URL: serverUrl,
    FERRY_TEST_SUPERUSER_URL: superuserUrl,
  }

  /** The report of the tests, or null if there is none: they never ended, or could not begin. */
  async function run(tests: readonly string[] | 'all', only: string | null): Promise<Report | null> {
    const report = join(directory, 'report.json')
    await rm(report, { force: true })
    const titles = only === null ? [] : ['-t', only]
    const files = tests === 'all' ? [] : ['--bail=1', ...tests]
    const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--retry=0', '--reporter=json']
    const args = [...vitest, `--outputFile=${report}`, ...titles, ...files]
    // A group of its own: a mutant may leave processes that ignore everything else.
    const child = spawn(process.execPath, args, { cwd: directory, env, detached: true, stdio: 'ignore' })
    const stop = () => endGroup(child.pid)
    const several = tests.length > 1 ? LONGEST_OF_SEVERAL_MS : LONGEST_MS
    const timer = setTimeout(stop, tests === 'all' ? LONGEST_OF_ALL_MS : several)
    signal.addEventListener('abort', stop)
    await new Promise(resolve => child.once('exit', resolve))
    signal.removeEventListener('abort', stop)
    clearTimeout(timer)
    stop()
    return readFile(report, 'utf8').then(JSON.parse, () => null)
  }

  async function verdictBy(files: readonly string[], only: string | null): Promise<Verdict> {
    const report = await run(files, only)
    signal.throwIfAborted()
    return report ? verdictOf(report) : NO_END
  }

  const verdictOfWitness = ({ file, title }: Witness) => verdictBy([file], RegExp.escape(title))

  /** Most mutants are noticed by the first file. */
  async function verdictOfAll({ tests: [first, ...others], only }: Trial): Promise<Verdict> {
    const verdict = first === undefined ? NO_TEST : await verdictBy([first], only)
    return verdict.kind === 'killed' || others.length === 0 ? verdict : verdictOfOthers(others, only)
  }

  /** What fails beside others must fail alone too: it may be the others that disturb it. */
  async function verdictOfOthers(files: readonly string[], only: string | null): Promise<Verdict> {
    const verdict = await verdictBy(files, only)
    if (verdict.kind !== 'killed' || verdict.witness === null) return verdict
    const { file } = verdict.witness
    if ((await verdictOfWitness(verdict.witness)).kind === 'killed') return verdict
    const rest = files.filter(other => other !== file)
    return rest.length === 0 ? { kind: 'survived' } : verdictOfOthers(rest, only)
  }

  /** Whether the types of all files agree. A value that nobody uses any more is no fault of types. */
  function fitsTogether(): Promise<boolean> {
    const compiler = ['tsc', '--noEmit', '--noUnusedLocals', 'false', '--noUnusedParameters', 'false']
    return promisify(execFile)('npx', compiler, { cwd: directory, signal }).then(
      () => true,
      () => false,
    )
  }

  /** What a report says, its files named as in this tree. After the first test that failed, other files count as failed too. */
  function verdictOf({ testResults, numPassedTests }: Report): Verdict {
    for (const { name, assertionResults } of testResults) {
      const failed = assertionResults.find(test => test.status === 'failed')
      if (!failed) continue
      const witness = { file: relative(directory, name), title: failed.fullName }
      return { kind: 'killed', by: failed.fullName, witness }
    }
    const unloaded = testResults.find(({ status }) => status === 'failed')
    if (unloaded) {
      const by = `${relative(directory, unloaded.name)}: ${unloaded.message}`
      return { kind: 'killed', by, witness: null }
    }
    if (numPassedTests > 0) return { kind: 'survived' }
    return NO_TEST
  }

  const sound = new Map<string, boolean>()
  return {
    async isSound(witness) {
      const known = sound.get(witness.title)
      if (known !== undefined) return known
      const isSound = (await verdictOfWitness(witness)).kind !== 'killed'
      sound.set(witness.title, isSound)
      return isSound
    },
    async proveSound(mutants) {
      for (const [only, sharing] of Map.groupBy(mutants, mutant => mutant.only)) {
        const report = await run([...new Set(sharing.flatMap(mutant => mutant.tests))], only)
        signal.throwIfAborted()
        const verdict = report ? verdictOf(report) : NO_END
        if (verdict.kind === 'survived') continue
        throw new Error(
          `The tests fail on the code as it is, so they say nothing: ${JSON.stringify(verdict)}`,
        )
      }
    },
    async tryTogether(mutants) {
      const all = mutants.map(mutant => mutant.make()).filter(made => 'file' in made)
      const files = Map.groupBy(all, ({ file }) => file)
      const write = (textOf: (made: readonly Made[]) => string) =>
        Promise.all([...files].map(([file, made]) => writeFile(join(directory, file), textOf(made))))
      await write(withAll)
      const report = await run('all', null).finally(() => write(([made]) => made?.before ?? ''))
      signal.throwIfAborted()
      // With so many mutants at once they may come to no end.
      const failed = (report?.testResults ?? []).filter(({ status }) => status === 'failed')
      return failed.map(({ name }) => relative(directory, name))
    },
    async try(mutant, last) {
      const made = mutant.make()
      if ('stale' in made) return { kind: 'stale', why: made.stale }
      const path = join(directory, made.file)
      await writeFile(path, made.after)
      try {
        if (last) {
          const verdict = await verdictOfWitness(last)
          if (verdict.kind === 'killed') return verdict
        }
        const verdict = await verdictOfAll(mutant)
        return verdict.kind === 'survived' && !(await fitsTogether()) ? UNFIT : verdict
      } finally {
        await writeFile(path, made.before)
      }
    },
  }
}

/** The text of a file with all of these mutants of it; of two that change the same place, the later one. */
function withAll(mutants: readonly Made[]): string {
  let text = mutants[0]?.before ?? ''
  let next = Number.POSITIVE_INFINITY
  // From the end, so that the places of the others hold.
  for (const { before, after, from, to } of mutants.toSorted((a, b) => b.from - a.from)) {
    const end = before.length - (after.length - to)
    if (end > next) continue
    text = text.slice(0, from) + after.slice(from, to) + text.slice(end)
    next = from
  }
  return text
}

const NO_TEST = { kind: 'broken', why: 'no test ran: the file is gone, or no title matches' } as const
const UNFIT = { kind: 'broken', why: 'the types of other files do not allow it' } as const
const NO_END = { kind: 'killed', by: 'no end, or none of the tests could begin', witness: null } as const

function endGroup(pid: number | undefined): void {
  try {
    if (pid) process.kill(-pid, 'SIGKILL')
  } catch {
    // Nobody is left, as it should be.
  }
}
