import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { findServer } from '#test/support/server.ts'
import { openCode } from './code.ts'
import { type Lane, openLane, type Trial, type Verdict, type Witness } from './lane.ts'
import { makeMutant } from './make.ts'
import { sampleMutants } from './sample.ts'
import { readTables } from './table.ts'

/*
 * Do the tests notice? Changes the code in one place, runs the tests that are to notice, and says which changes none
 * of them did:
 *
 *     npm run mutate                        all, some minutes
 *     npm run mutate -- leases claims/turn  those whose names begin so
 *     npm run mutate -- --lanes 4           so many at a time, instead of one for each core
 *     npm run mutate -- --unproven          without first seeing that the tests succeed on the code as it is
 *     npm run mutate -- --show leases       only shows what they change
 *     npm run mutate -- --sample 200        so many by chance instead, each with the tests that are near it, and then those
 *                                           that none of them noticed with all tests; --seed 7 for others
 *
 * The changes stand in the tables beside this file (CONTRIBUTING.md says how they are named). They are made in copies of
 * the tree, never here. One embedded Postgres serves all.
 *
 * Ends with 1 if fewer than nine of ten mutants are noticed, if the code of one has changed so that it cannot be tried,
 * or if one that is called harmless is noticed.
 */

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const LEAST_SHARE = 0.9

/** Who noticed which mutant the last time: asked first, a test answers sooner than all of its file. */
const WITNESSES = join(ROOT, 'node_modules/.cache/ferry-mutants.json')

const { values, positionals } = parseArgs({
  options: {
    lanes: { type: 'string', default: `${availableParallelism()}` },
    unproven: { type: 'boolean', default: false },
    show: { type: 'boolean', default: false },
    sample: { type: 'string' },
    seed: { type: 'string', default: '1' },
  },
  allowPositionals: true,
})
const code = openCode(ROOT)
const mutants = trials().filter(
  ({ name }) => positionals.length === 0 || positionals.some(begin => name.startsWith(begin)),
)
const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort(signal))
if (values.show) for (const mutant of mutants) say(`${mutant.name}\n${shownChange(mutant)}`)
else
  process.exitCode = await main(mutants, Number(values.lanes)).catch(error => {
    if (!stop.signal.aborted) throw error
    return 130
  })

function trials(): Trial[] {
  if (values.sample === undefined) {
    return readTables(ROOT).map(({ change, ...mutant }) => ({
      ...mutant,
      make: () => makeMutant(code, change),
    }))
  }
  return sampleMutants(ROOT, Number(values.sample), Number(values.seed)).map(({ name, made, tests }) => ({
    ...{ name, tests, only: null, harmless: null },
    make: () => made,
  }))
}

async function main(mutants: readonly Trial[], laneCount: number): Promise<number> {
  await using opened = new AsyncDisposableStack()
  const server = await findServer(opened)
  const directory = await mkdtemp(join(tmpdir(), 'ferry-mutants-'))
  opened.defer(() => rm(directory, { recursive: true, force: true }))
  const lanes = await Promise.all(
    Array.from({ length: Math.max(1, laneCount) }, (_, n) =>
      openLane(ROOT, join(directory, `${n}`), server, stop.signal),
    ),
  )
  if (values.sample !== undefined) return judge(await askAll(lanes, await tryAll(lanes, mutants)))
  if (!values.unproven) await lanes[0]?.proveSound(mutants)
  return judge(await tryAll(lanes, mutants))
}

/** Asks all tests of the mutants that none of those near them noticed: of all at once, and of each one then the tests that failed. */
async function askAll(lanes: readonly Lane[], tried: readonly Tried[]): Promise<readonly Tried[]> {
  const survivors = tried.flatMap(({ mutant, verdict }) => (verdict.kind === 'survived' ? [mutant] : []))
  if (survivors.length === 0) return tried
  say(
    `\n${survivors.length} were not noticed so far; all tests are asked of all of them at once, many minutes`,
  )
  const tests = (await lanes[0]?.tryTogether(survivors)) ?? []
  if (tests.length === 0) return tried
  const again = await tryAll(
    lanes,
    survivors.map(mutant => ({ ...mutant, tests })),
  )
  const verdicts = new Map(again.map(({ mutant, verdict }) => [mutant.name, verdict]))
  return tried.map(one => {
    const verdict = verdicts.get(one.mutant.name)
    // A test that fails without a mutant too says nothing of it.
    return verdict?.kind === 'killed' ? { mutant: one.mutant, verdict } : one
  })
}

type Tried = { readonly mutant: Trial; readonly verdict: Verdict }

async function tryAll(lanes: readonly Lane[], mutants: readonly Trial[]): Promise<Tried[]> {
  const witnesses = await readWitnesses()
  await mkdir(dirname(WITNESSES), { recursive: true })
  const queue = [...mutants]
  const tried: Tried[] = []
  const work = async (lane: Lane) => {
    for (let mutant = queue.shift(); mutant; mutant = queue.shift()) {
      const beganMs = performance.now()
      const verdict = await provenBy(lane, await lane.try(mutant, witnesses[mutant.name]))
      tried.push({ mutant, verdict })
      if (verdict.kind === 'killed' && verdict.witness) {
        // Another run may be under way.
        const now = { ...(await readWitnesses()), [mutant.name]: verdict.witness }
        await writeFile(WITNESSES, JSON.stringify(now, null, 2))
      }
      const seconds = ((performance.now() - beganMs) / 1000).toFixed(1)
      say(
        `${verdict.kind.padEnd(8)} ${mutant.name.padEnd(44)} ${seconds.padStart(5)} s  ${detailOf(verdict)}`,
      )
    }
  }
  await Promise.all(lanes.map(work))
  return tried
}

/** The tests near a mutant that was made by chance were not run without it. */
async function provenBy(lane: Lane, verdict: Verdict): Promise<Verdict> {
  if (values.sample === undefined || verdict.kind !== 'killed' || !verdict.witness) return verdict
  if (await lane.isSound(verdict.witness)) return verdict
  return { kind: 'broken', why: `fails without a mutant too: ${verdict.by}` }
}

function readWitnesses(): Promise<Record<string, Witness>> {
  return readFile(WITNESSES, 'utf8').then(JSON.parse, () => ({}))
}

/** Prints what the mutants came to; returns the exit code. */
function judge(tried: readonly Tried[]): number {
  const named = (wanted: (one: Tried) => boolean) => tried.filter(wanted).map(({ mutant }) => mutant)
  const killed = named(({ mutant, verdict }) => !mutant.harmless && verdict.kind === 'killed')
  const survived = named(({ mutant, verdict }) => !mutant.harmless && verdict.kind === 'survived')
  const harmless = named(({ mutant, verdict }) => mutant.harmless !== null && verdict.kind === 'survived')
  const noticed = named(({ mutant, verdict }) => mutant.harmless !== null && verdict.kind === 'killed')
  const useless = named(({ verdict }) => verdict.kind === 'stale' || verdict.kind === 'broken')
  for (const mutant of survived) say(`\nsurvived: ${mutant.name}\n${shownChange(mutant)}`)
  for (const mutant of harmless) say(`\nharmless: ${mutant.name}\n  ${mutant.harmless}`)
  for (const mutant of noticed) say(`\n${mutant.name} is called harmless, but was noticed`)
  for (const mutant of useless) say(`\n${mutant.name} could not be tried`)
  const share = killed.length / Math.max(1, killed.length + survived.length)
  say(
    `\n${tried.length} mutants: ${killed.length} killed, ${survived.length} survived (${(share * 100).toFixed(1)} % ` +
      `killed), ${harmless.length} harmless, ${useless.length} not tried`,
  )
  return share >= LEAST_SHARE && useless.length === 0 && noticed.length === 0 ? 0 : 1
}

/** The lines that a mutant changes, before and after. */
function shownChange({ make }: Trial): string {
  const made = make()
  if ('stale' in made) return made.stale
  const before = made.before.split('\n')
  const after = made.after.split('\n')
  const first = before.findIndex((line, n) => line !== after[n])
  const same = before.toReversed().findIndex((line, n) => line !== after.at(-1 - n))
  const part = (lines: string[], sign: string) =>
    lines.slice(first, Math.max(first, lines.length - same)).map(line => `${sign} ${line}`)
  return [`  ${made.file}:${first + 1}`, ...part(before, '-'), ...part(after, '+')].join('\n')
}

function detailOf(verdict: Verdict): string {
  if (verdict.kind === 'killed') return verdict.by.split('\n')[0]?.slice(0, 100) ?? ''
  return verdict.kind === 'survived' ? '' : verdict.why
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
