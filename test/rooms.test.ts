import { globSync, readFileSync } from 'node:fs'
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ICruiseResult } from 'dependency-cruiser'
import { expect, onTestFinished, test } from 'vitest'
import { cruiseRooms } from '../docs/rooms.ts'

/** What only some places may use, so that everybody knows where to look for it. Imports are in .dependency-cruiser.mjs. */
const RESERVED: readonly { what: RegExp; where: RegExp; named: string }[] = [
  {
    what: /\bprocess\.env\b/,
    where: /^src\/config\.ts$/,
    named: 'config.ts alone reads the environment',
  },
  {
    what: /\bconsole\.(debug|dir|error|info|log|table|trace|warn)\b|\bprocess\.(exit\b|exitCode|stdout|stderr)/,
    where: /^src\/cli\//,
    named: 'the command line alone prints and exits',
  },
]

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const OURS = textsOf('src/**/*.ts', 'jobs/**/*.ts')

test('every import follows the rules of .dependency-cruiser.mjs', async () => {
  expect(await violationsIn(ROOT)).toEqual([])
})

test('a room that imports another against the rules is reported, and so are a circle of types and a command past a front door', async () => {
  const root = await mkdtemp(join(tmpdir(), 'ferry-rooms-'))
  onTestFinished(() => rm(root, { recursive: true }))
  await cp(join(ROOT, 'package.json'), join(root, 'package.json'))
  const files = {
    'src/model/id.ts': `import { query } from '#src/db/query.ts'\nexport const id = query`,
    'src/db/query.ts': 'export const query = 1',
    'src/imports/staging/stage.ts': `import type { Send } from '../sending/send.ts'\nexport type Stage = Send`,
    'src/imports/sending/send.ts': 'export type Send = 1',
    'src/queue/queue.ts': `export { slots } from '#src/schedules/slots.ts'`,
    'src/schedules/slots.ts': `export type { Left } from './left.ts'\nexport const slots = 1`,
    'src/schedules/left.ts': `export type Left = typeof import('./right.ts').right`,
    'src/schedules/right.ts': `import type { Left } from './left.ts'\nexport const right = 1 as unknown as Left`,
    'src/platform/call.ts': `export const call = () => import('../cli/run.ts')`,
    'src/cli/run.ts': `import 'bullmq'\nimport './missing.ts'\nimport '../db/query.ts'\nimport '../db/clock.ts'\nimport '../inventory/schema.ts'`,
    'src/db/clock.ts': 'export const clock = 1',
    'src/inventory/schema.ts': 'export const rules = 1',
    'jobs/job.ts': `export { context } from '#src/imports/context.ts'`,
    'src/imports/context.ts': 'export const context = 1',
    'jobs/prune.ts': `import '#src/attic/old.ts'`,
    'src/attic/old.ts': 'export const old = 1',
  }
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), text)
  }
  expect(await violationsIn(root)).toEqual([
    'BullMQ outside the queue: src/cli/run.ts -> bullmq',
    'circle: src/schedules/left.ts -> src/schedules/right.ts',
    'front door of db: src/cli/run.ts -> src/db/query.ts',
    'front door of inventory: src/cli/run.ts -> src/inventory/schema.ts',
    'room imports/staging: src/imports/staging/stage.ts -> src/imports/sending/send.ts',
    'room jobs, types of imports: jobs/job.ts -> src/imports/context.ts',
    'room jobs: jobs/prune.ts -> src/attic/old.ts',
    'room model: src/model/id.ts -> src/db/query.ts',
    'room platform: src/platform/call.ts -> src/cli/run.ts',
    'room queue: src/queue/queue.ts -> src/schedules/slots.ts',
    'unknown room: jobs/prune.ts -> src/attic/old.ts',
    'unresolved: src/cli/run.ts -> ./missing.ts',
  ])
})

test.for(RESERVED)('$named', ({ what, where }) => {
  const strangers = OURS.filter(({ path, text }) => what.test(withoutComments(text)) && !where.test(path))
  expect(strangers.map(file => file.path)).toEqual([])
})

test('no file is longer than 300 lines', () => {
  const longer = [...OURS, ...textsOf('bench/**/*.ts', 'test/**/*.ts')].filter(
    ({ text }) => text.split('\n').length > 300 + 1,
  )
  expect(longer.map(({ path }) => path)).toEqual([])
})

async function violationsIn(root: string): Promise<string[]> {
  const { output } = await cruiseRooms({ baseDir: root })
  const { violations } = (output as ICruiseResult).summary
  return violations.map(({ rule, from, to }) => `${rule.name}: ${from} -> ${to}`).sort()
}

function textsOf(...patterns: string[]): { path: string; text: string }[] {
  return globSync(patterns, { cwd: ROOT }).map(path => ({
    path: path.replaceAll('\\', '/'),
    text: readFileSync(posix.join(ROOT, path), 'utf8'),
  }))
}

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
}
