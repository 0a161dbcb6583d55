import { globSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

/*
 * The arrows between the rooms: who may know whom. `types` are rooms of which only the types may be imported, which
 * leave nothing behind when the program runs.
 */
const ARROWS: Record<string, { may: readonly string[]; types?: readonly string[] }> = {
  model: { may: [] },
  platform: { may: ['model'] },
  store: { may: ['model'] },
  embedded: { may: ['model'] },
  config: { may: ['model'] },
  sandbox: { may: ['platform', 'model'] },
  inventory: { may: ['platform', 'store', 'model'] },
  imports: { may: ['platform', 'store', 'model'] },
  queue: { may: ['store', 'model'], types: ['inventory', 'imports'] },
  // `store` for the one job that is housekeeping: prune.
  jobs: { may: ['inventory', 'imports', 'store', 'model'], types: ['queue'] },
  ferry: {
    may: [
      'config',
      'model',
      'platform',
      'store',
      'inventory',
      'imports',
      'queue',
      'embedded',
      'sandbox',
      'jobs',
    ],
  },
  cli: {
    may: [
      'ferry',
      'config',
      'model',
      'platform',
      'store',
      'inventory',
      'imports',
      'queue',
      'embedded',
      'sandbox',
      'jobs',
    ],
  },
}

/** What only some places may use, so that everybody knows where to look for it. */
const RESERVED: readonly { what: RegExp; where: (path: string) => boolean; named: string }[] = [
  {
    what: /from '(bullmq|ioredis)/,
    where: inRoom('queue'),
    named: 'BullMQ and Redis are known to the queue alone',
  },
  {
    what: /\bprocess\.env\b/,
    where: path => path === 'src/config.ts',
    named: 'config.ts alone reads the environment',
  },
  {
    what: /\bconsole\.|\bprocess\.(exit\b|exitCode|stdout|stderr)/,
    where: inRoom('cli'),
    named: 'the command line alone prints and exits',
  },
  { what: /\bexport default\b/, where: () => false, named: 'every export has a name' },
]

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const files = globSync(['src/**/*.ts', 'jobs/**/*.ts'], { cwd: ROOT })
  .map(path => ({ path: path.replaceAll('\\', '/'), text: readFileSync(posix.join(ROOT, path), 'utf8') }))
  .sort((a, b) => a.path.localeCompare(b.path))

test('rooms know only the rooms they may know', () => {
  expect(files.flatMap(forbiddenImports)).toEqual([])
})

test('every room is on the map', () => {
  expect(Object.keys(ARROWS)).toEqual(
    expect.arrayContaining([...new Set(files.map(file => roomOf(file.path)))]),
  )
})

test.for(RESERVED)('$named', ({ what, where }) => {
  const strangers = files.filter(file => what.test(withoutComments(file.text)) && !where(file.path))
  expect(strangers.map(file => file.path)).toEqual([])
})

test('no file is longer than 400 lines', () => {
  const sources = [...files, ...tests()]
  expect(sources.filter(file => file.text.split('\n').length > 400).map(file => file.path)).toEqual([])
})

function forbiddenImports(file: { path: string; text: string }): string[] {
  const room = roomOf(file.path)
  const { may, types = [] } = ARROWS[room] ?? { may: [] }
  return importsOf(file).flatMap(({ target, isType }) => {
    const other = roomOf(target)
    const fine = other === room || may.includes(other) || (isType && types.includes(other))
    return fine ? [] : [`${file.path} imports ${target}: ${room} may not know ${other}`]
  })
}

/** Every import, export and dynamic import of a file of ours, as a path from the root. */
function importsOf({ path, text }: { path: string; text: string }): { target: string; isType: boolean }[] {
  const statement = /^(?:import|export)\s+(type\s)?(?:[^'"`;]*?\sfrom\s+)?'([^']+)'|\bimport\(\s*'([^']+)'/gm
  return [...text.matchAll(statement)].flatMap(([, type, from, dynamic]) => {
    const name = from ?? dynamic ?? ''
    if (name.startsWith('#')) return [{ target: name.slice(1), isType: type !== undefined }]
    if (name.startsWith('.'))
      return [{ target: posix.join(posix.dirname(path), name), isType: type !== undefined }]
    return []
  })
}

/** `src/store/leases.ts` is in `store`; `jobs/prune.ts` in `jobs`; `src/config.ts` and `src/config/` are one room. */
function roomOf(path: string): string {
  const [top = '', room = ''] = path.split('/')
  return top === 'src' ? room.replace(/\.ts$/, '') : top
}

function inRoom(room: string): (path: string) => boolean {
  return path => roomOf(path) === room
}

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
}

function tests(): { path: string; text: string }[] {
  return globSync(['test/**/*.ts', 'bench/**/*.ts'], { cwd: ROOT }).map(path => ({
    path,
    text: readFileSync(posix.join(ROOT, path), 'utf8'),
  }))
}
