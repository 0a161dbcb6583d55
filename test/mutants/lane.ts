import { spawn } from 'node:child_process'
import { cp, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { applyMutant, type Mutant } from './table.ts'

/** Whether the tests noticed; `by` is the title of the first test that did. */
export type Verdict =
  | { readonly kind: 'killed'; readonly by: string }
  | { readonly kind: 'survived' }
  | { readonly kind: 'stale' | 'broken'; readonly why: string }

/** A copy of the code, in which one mutant at a time is tried. */
export type Lane = {
  /** Runs tests on the code as it is; throws if they fail: then they could not tell a mutant. */
  proveSound(tests: readonly string[]): Promise<void>
  try(mutant: Mutant): Promise<Verdict>
}

/** A mutant may well never end. */
const LONGEST_MS = 180_000

/** What a run of vitest leaves behind, as far as it is of interest here. */
type Report = {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly testResults: readonly {
    readonly name: string
    readonly status: string
    readonly message: string
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[]
  }[]
}

/** Copies the code of `root` to `directory`, where tests then run on the Postgres at `databaseUrl`. */
export async function openLane(root: string, directory: string, databaseUrl: string): Promise<Lane> {
  const left = ['node_modules', '.git', '.ferry', `bench${sep}results`].map(name => join(root, name))
  await cp(root, directory, { recursive: true, filter: source => !left.includes(source) })
  // Packages are shared, but what vitest keeps among them is the lane's own.
  await mkdir(join(directory, 'node_modules'))
  for (const name of await readdir(join(root, 'node_modules'))) {
    if (name.startsWith('.') && name !== '.bin') continue
    await symlink(join(root, 'node_modules', name), join(directory, 'node_modules', name))
  }
  const { FERRY_TEST_REDIS_URL: _, ...environment } = process.env
  const env = { ...environment, FERRY_TEST_DATABASE_URL: databaseUrl }

  /** The report of the tests, or null if there is none: they never ended, or could not begin. */
  async function run(tests: readonly string[], only: string | null): Promise<Report | null> {
    const report = join(directory, 'report.json')
    await rm(report, { force: true })
    const titles = only === null ? [] : ['-t', only]
    const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--bail=1', '--reporter=json', '--retry=0']
    const args = [...vitest, `--outputFile=${report}`, ...titles, ...tests]
    // A group of its own: a mutant may leave processes that ignore everything else.
    const child = spawn(process.execPath, args, { cwd: directory, env, detached: true, stdio: 'ignore' })
    const stop = () => child.pid && process.kill(-child.pid, 'SIGKILL')
    const timer = setTimeout(stop, LONGEST_MS)
    await new Promise(resolve => child.once('exit', resolve))
    clearTimeout(timer)
    try {
      stop()
    } catch {
      // Nothing was left, as it should be.
    }
    return readFile(report, 'utf8').then(JSON.parse, () => null)
  }

  return {
    async proveSound(tests) {
      const report = await run(tests, null)
      const verdict = report ? verdictOf(report) : null
      if (verdict?.kind === 'survived') return
      throw new Error(`the tests fail without any mutant: ${JSON.stringify(verdict)}`)
    },
    async try(mutant) {
      const applied = applyMutant(directory, mutant)
      if ('stale' in applied) return { kind: 'stale', why: applied.stale }
      const path = join(directory, applied.file)
      await writeFile(path, applied.after)
      try {
        const report = await run(mutant.tests, mutant.only)
        return report ? verdictOf(report) : { kind: 'killed', by: 'no end, or none of the tests could begin' }
      } finally {
        await writeFile(path, applied.before)
      }
    },
  }
}

function verdictOf(report: Report): Verdict {
  for (const file of report.testResults) {
    const failed = file.assertionResults.find(test => test.status === 'failed')
    if (failed) return { kind: 'killed', by: failed.fullName }
    if (file.status === 'failed') return { kind: 'killed', by: `${file.name}: ${file.message}` }
  }
  if (report.numPassedTests === 0) return { kind: 'broken', why: 'no test ran' }
  return { kind: 'survived' }
}
