import { describe, expect, test } from 'vitest'
import { unlessLate, within } from '#src/model/within.ts'

const late = () => new Error('late')
const never = new Promise<never>(() => {})

describe.each([
  ['within', (ms: number, work: Promise<unknown>) => within(ms, work, late)],
  ['unlessLate', (ms: number, work: Promise<unknown>) => unlessLate(ms, work)],
])('%s', (_, wait) => {
  test('has the result of work that ends in time, also if that is null', async () => {
    expect(await wait(60_000, Promise.resolve(7))).toBe(7)
    expect(await wait(60_000, Promise.resolve(null))).toBeNull()
  })

  test('fails as work does that fails in time', async () => {
    await expect(wait(60_000, Promise.reject(new Error('broken')))).rejects.toThrow('broken')
  })
})

test('work that is late is an error, or null', async () => {
  await expect(within(-1, never, late)).rejects.toThrow('late')
  expect(await unlessLate(1, never)).toBeNull()
})

test('who stops waiting gets null at once', async () => {
  expect(await unlessLate(86_400_000, never, AbortSignal.abort())).toBeNull()
})
