import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openCode } from './code.ts'
import { faultOf, makeMutant } from './make.ts'
import { parseChange } from './table.ts'

const DECIDE = `export function decide(rows: number[], limit: number) {
  // forgotten stands in a remark only
  if (rows.length > limit && limit > 0) return 'too many'
  const shown = rows.filter(row => row > 0)
  record(shown, limit)
  return { first: shown[0] ?? null, limit }
}
`
const OLD = `CREATE FUNCTION ferry.take(p_id bigint) RETURNS int LANGUAGE sql AS $$ SELECT 1 $$;`
const NEW = `CREATE OR REPLACE FUNCTION ferry.take(p_id bigint) RETURNS int LANGUAGE sql AS $$
  SELECT max(b.rows) FROM batches b WHERE b.id = p_id AND b.state = 'ready' ORDER BY b.id DESC LIMIT 1 FOR UPDATE
$$;`

async function setup(files: Readonly<Record<string, string>> = {}) {
  const root = await mkdtemp(join(tmpdir(), 'ferry-test-mutants-'))
  onTestFinished(() => rm(root, { recursive: true }))
  const all = { 'src/a/decide.ts': DECIDE, 'drizzle/0000_a.sql': OLD, 'drizzle/0001_b.sql': NEW, ...files }
  for (const [file, text] of Object.entries(all)) {
    await mkdir(join(root, dirname(file)), { recursive: true })
    await writeFile(join(root, file), text)
  }
  const code = openCode(root)
  return (text: string) => {
    const made = makeMutant(code, parseChange(text, 'here'))
    if ('stale' in made) return made.stale
    const lines = made.after.split('\n').filter((line, n) => line !== made.before.split('\n')[n])
    return faultOf(made) ?? lines.map(line => line.trim()).join('\n')
  }
}

test('each operator changes the smallest place that holds all words', async () => {
  const made = await setup()
  expect(made('decide drop record')).toBe(';')
  expect(made('decide without rows.length')).toBe("if (limit > 0) return 'too many'")
  expect(made('decide without first')).toBe('return { limit }')
  expect(made('decide unwrap filter')).toBe('const shown = rows')
  expect(made('decide later shown @2')).toBe('record(limit, shown)')
  expect(made('decide make rows.length 0 = false')).toBe("if (false) return 'too many'")
  expect(made('decide make rows.length > = !(~)')).toContain('if (!(rows.length > limit) && limit > 0)')
  expect(made('decide swap > rows.length = >=')).toContain('if (rows.length >= limit && limit > 0)')
  expect(made('decide.shown swap 0 = 1')).toBe('const shown = rows.filter(row => row > 1)')
})

test('in SQL a condition, a clause, a call and a word are changed, in the newest migration', async () => {
  const made = await setup()
  expect(made('take.sql without state')).toContain('WHERE b.id = p_id ORDER')
  expect(made('take.sql without UPDATE')).toMatch(/LIMIT 1$/)
  expect(made('take.sql unwrap max')).toContain('SELECT b.rows FROM')
  expect(made('take.sql swap DESC =')).toContain('ORDER BY b.id  LIMIT')
})

test('a declaration is found in whichever file it stands, and by its file where there are several', async () => {
  const made = await setup({
    'jobs/b/decide-late.ts': DECIDE,
    'src/c.ts': 'export const one = { two: () => 3 }\n',
  })
  expect(made('one.two swap 3 = 4')).toBe('export const one = { two: () => 4 }')
  expect(made('decide drop record')).toContain('several decide: in ')
  expect(made('decide-late/decide drop record')).toBe(';')
})

test('says why a mutant cannot be made', async () => {
  const made = await setup()
  expect(made('gone drop record')).toBe('there is no gone')
  expect(made('decide drop forgotten')).toContain('there is no forgotten there')
  expect(made('decide swap limit = rows')).toContain('add a word, or @1 to @')
  expect(made('decide make 0 @1 = 0')).toContain('changes nothing')
  expect(made('decide make record = elsewhere()')).toBe('src/a/decide.ts has no elsewhere')
  expect(made('decide make record = (')).toBe('src/a/decide.ts is no TypeScript any more')
})
