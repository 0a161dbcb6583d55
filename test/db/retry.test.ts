import { DatabaseError } from 'pg'
import { describe, expect, test } from 'vitest'
import { retryTransient } from '#src/db/retry.ts'
import { isTransient } from '#src/model/transient-error.ts'

function systemError(code: string): Error {
  return Object.assign(new Error(`something ${code}`), { code })
}

function serverError(code: string): DatabaseError {
  return Object.assign(new DatabaseError('the server says', 0, 'error'), { code })
}

describe('retryTransient', () => {
  test.each(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL'])(
    'is had with %s, by which a name or a way is missing',
    code => expect(isTransient(systemError(code))).toBe(true),
  )

  test.each([
    '08006',
    '28P01',
    '25006',
    '25P03',
    '25P04',
    '40001',
    '40P01',
    '53300',
    '55P03',
    '57P01',
    '57P03',
  ])('is had with %s, which passes', code => expect(isTransient(serverError(code))).toBe(true))

  test.each([
    'ERR_ASSERTION',
    '22P02',
    '23505',
    '25P02',
    '25001',
    '3D000',
    '42501',
    '42601',
    '55000',
    '57014',
    'P0001',
  ])('is not had with %s, which does not', code => expect(isTransient(serverError(code))).toBe(false))

  test.each([
    ['Connection terminated unexpectedly', true],
    ['timeout exceeded when trying to connect', true],
    ['Query read timeout', true],
    ['there is no import 5', false],
  ])('has no code to go by: %s', (message, passes) => expect(isTransient(new Error(message))).toBe(passes))

  test('ends at once with an error that is not transient, whatever is thrown', async () => {
    let tries = 0
    const failing = retryTransient(() => {
      tries += 1
      return Promise.reject(serverError('23505'))
    })
    await expect(failing).rejects.toMatchObject({ code: '23505' })
    expect(tries).toBe(1)
    await expect(retryTransient(() => Promise.reject('text'))).rejects.toBe('text')
  })

  test('counts its time from the first failure, however long that attempt took', async () => {
    let tries = 0
    const slow = () => {
      tries += 1
      return new Promise((resolve, reject) => {
        if (tries > 1) resolve('done')
        else setTimeout(() => reject(systemError('ETIMEDOUT')), 400)
      })
    }
    expect(await retryTransient(slow, { retryForMs: 300 })).toBe('done')
  })

  test('ends after its time, and at once when the signal aborts', async () => {
    let tries = 0
    const away = () => {
      tries += 1
      return Promise.reject(systemError('ECONNREFUSED'))
    }
    await expect(retryTransient(away, { retryForMs: 300 })).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    const stop = new AbortController()
    tries = 0
    const stopped = retryTransient(away, { signal: stop.signal, retryForMs: 1_000 })
    stop.abort()
    await expect(stopped).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    expect(tries).toBe(1)
  })
})
