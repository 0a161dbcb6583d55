import { expect, test } from 'vitest'
import { Secret } from '#src/model/secret.ts'
import { openCaller } from '#src/notify/caller.ts'
import { openReceiver, status } from './receiver.ts'

const DIRECT = { https: null, http: null, except: null }
const ANYWHERE = { allowsPrivate: true }
const NEVER = new AbortController().signal

const open = (url: string) => openCaller(new Secret(url), 'FERRY_WEBHOOK_URL', ANYWHERE, DIRECT)

test.for([
  [200, null],
  [299, null],
  [300, 'it answered HTTP 300, a redirect, which Ferry does not follow'],
  [399, 'it answered HTTP 399, a redirect, which Ferry does not follow'],
  [400, 'it answered HTTP 400'],
  [503, 'it answered HTTP 503'],
] as const)('an answer with HTTP %i is accepted, or it is said why not: %s', async ([httpStatus, why]) => {
  await using receiver = await openReceiver()
  receiver.answer = status(httpStatus, { location: '/elsewhere' })
  await using caller = open(receiver.url)
  const result = await caller.call({ headers: { 'x-of': 'ferry' }, body: 'words' }, NEVER)
  expect(result).toEqual(why === null ? { ok: true, httpStatus } : { ok: false, httpStatus, why })
  expect(receiver.received).toEqual([
    {
      path: '/hook?for=ferry',
      method: 'POST',
      headers: expect.objectContaining({ 'x-of': 'ferry' }),
      body: 'words',
    },
  ])
})

test('a call with nothing to post gets the address', async () => {
  await using receiver = await openReceiver()
  await using caller = open(receiver.url)
  expect(await caller.call(null, NEVER)).toEqual({ ok: true, httpStatus: 200 })
  expect(receiver.received).toMatchObject([{ path: '/hook?for=ferry', method: 'GET', body: '' }])
})
