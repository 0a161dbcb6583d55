import { appendFileSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { stageImport } from '#src/imports/staging/stage.ts'
import { NEVER, OPTIONS } from '../options.ts'
import { openStagingHarness, type StagingHarness } from './staging-harness.ts'

let harness: StagingHarness
beforeAll(async () => {
  harness = await openStagingHarness()
})
afterAll(() => harness[Symbol.asyncDispose]())
beforeEach(() => harness.discardAll())

test.for([
  ['grows', (path: string) => appendFileSync(path, 'late@example.com\n')],
  ['keeps its size', (path: string) => writeFileSync(path, 'mail', { flag: 'r+' })],
] as const)(
  'a file that changes while it is read, and %s, is refused, and nothing stays',
  async ([, change]) => {
    const path = await harness.file(`email\n${'ada@example.com\n'.repeat(50_000)}`)
    let changed = false
    const onProgress = () => {
      if (!changed) change(path)
      changed = true
    }

    await expect(stageImport(harness.store, path, OPTIONS, { signal: NEVER, onProgress })).rejects.toThrow(
      'was changed while it was read',
    )
    expect(await harness.recipients()).toEqual([])
    expect(await harness.query('select from ferry.imports')).toEqual([])
  },
)

test.for([
  ['suppress', (n: number) => `u${n}@example.com\n`],
  ['components', (n: number) => `old${n},new${n}\n`],
] as const)(
  'the file of --%s that grows while it is read is refused, and nothing stays',
  async ([option, lineOf]) => {
    const path = await harness.file('email\nada@example.com\n')
    const grows = await harness.file(Array.from({ length: 100_000 }, (_, n) => lineOf(n)).join(''))
    const options = { ...OPTIONS, [option]: grows }
    let lines = 100_000
    const growing = setInterval(() => appendFileSync(grows, lineOf(lines++)), 1)

    await expect(
      stageImport(harness.store, path, options, { signal: NEVER }).finally(() => clearInterval(growing)),
    ).rejects.toThrow(`${grows} was changed while it was read`)
    expect(await harness.query('select from ferry.imports')).toEqual([])
  },
)
