import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { atLeast, atMost, type Figure, median } from './support/figures.ts'
import type { Bench, Lab } from './support/lab.ts'
import { end } from './support/sandbox-process.ts'
import { seeded } from './support/seeded.ts'
import type { Staging } from './support/staging-child.ts'

const CHILD = fileURLToPath(new URL('support/staging-child.ts', import.meta.url))

/**
 * How fast a file of subscribers is read, checked and stored, against the least that could be done with the same file:
 * csv-parse alone feeding one COPY into a table without indexes. And whether memory grows with the file. Each is
 * done by a process of its own, as `ferry import` would be.
 */
export const importStaging: Bench = async lab => {
  const directory = await mkdtemp(join(tmpdir(), 'ferry-bench-staging-'))
  lab.defer(() => rm(directory, { recursive: true, force: true }))
  const rows = lab.size(1_000_000, 20_000)
  const file = await writeSubscribers(join(directory, 'subscribers.csv'), rows)

  const floors: number[] = []
  const stagings: number[] = []
  const residents: number[] = []
  for (let round = 0; round < lab.size(3, 1); round++) {
    floors.push((await inOwnProcess(lab, 'floor', file, rows)).ms)
    const staged = await inOwnProcess(lab, 'stage', file, rows)
    stagings.push(staged.ms)
    residents.push(staged.residentMb)
  }
  const residentMb = Math.max(...residents)
  const speed = (tookMs: readonly number[]) => (1000 * rows) / median(tookMs)
  return [
    {
      measure: `rows staged a second, of ${rows} (${Math.round((await stat(file)).size / 1e6)} MB)`,
      value: speed(stagings),
      floor: speed(floors),
      rounds: { stagings, floors },
      unit: 'rows',
      wanted: atLeast(0.5),
    },
    { measure: 'resident at most, of it', value: residentMb, unit: 'MB', wanted: atMost(250) },
    ...(lab.quick ? [] : await fiveTimes(lab, directory, rows, residentMb)),
  ]
}

/** The same for five times the rows. */
async function fiveTimes(lab: Lab, directory: string, rows: number, before: number): Promise<Figure[]> {
  const file = await writeSubscribers(join(directory, 'five-times.csv'), 5 * rows)
  const { residentMb } = await inOwnProcess(lab, 'stage', file, 5 * rows)
  return [
    { measure: `resident at most, of ${5 * rows}`, value: residentMb, unit: 'MB', wanted: atMost(250) },
    {
      measure: 'resident, five times the rows against once',
      value: residentMb,
      floor: before,
      unit: 'MB',
      wanted: atMost(1.2),
    },
  ]
}

async function inOwnProcess(
  lab: Lab,
  how: Staging['how'],
  file: string,
  rows: number,
): Promise<{ ms: number; residentMb: number }> {
  const databaseUrl = await lab.openDatabase()
  const task: Staging = { how, file, databaseUrl, rows }
  const child = fork(CHILD, [JSON.stringify(task)], { execArgv: [...process.execArgv] })
  lab.defer(() => end(child))
  const gone = once(child, 'exit').then(([code]) => {
    throw new Error(`the process that was to ${how} ended with ${code}`)
  })
  gone.catch(() => {}) // it may end once it has told
  const [told] = (await Promise.race([once(child, 'message'), gone])) as [{ ms: number; residentMb: number }]
  await end(child)
  return told
}

/** Four columns, no row like another, the same file each time. */
async function writeSubscribers(path: string, rows: number): Promise<string> {
  await pipeline(Readable.from(chunksOf(rows), { objectMode: false }), createWriteStream(path))
  return path
}

function* chunksOf(rows: number): Generator<Buffer> {
  const random = seeded(1)
  let text = 'email,all,component_ids,locale\n'
  for (let row = 0; row < rows; row++) {
    const domain = DOMAINS[Math.floor(random() * DOMAINS.length)]
    const some = random() < 0.3
    text += `first.last${row}@${domain},${some ? 'false,01JDPROD0000000000000000AA' : 'true,'},en-US\n`
    if (text.length < 1 << 16) continue
    yield Buffer.from(text)
    text = ''
  }
  yield Buffer.from(text)
}

const DOMAINS = ['example.com', 'example.org', 'mail.example.net', 'ops.example.com']
