import fc from 'fast-check'
import { expect, test } from 'vitest'
import { dataHash } from '#src/platform/data-hash.ts'

const hashOf = (text: string) => dataHash(Buffer.from(text))

test('the same data under another request_id has the same hash, wherever the envelope puts it', () => {
  for (const body of [
    (id: string) => `{"request_id":"${id}","data":[{"id":1}]}`,
    (id: string) => `{"data":[{"id":1}],"request_id": "${id}"}`,
    (id: string) => `{ "request_id" :\n"${id}", "data": [ ] }`,
  ]) {
    const [one, other] = [hashOf(body('first')), hashOf(body('the second'))]
    expect(one?.hash).toMatch(/^[0-9a-f]{64}$/)
    expect(other?.hash).toBe(one?.hash)
    expect([one?.requestId, other?.requestId]).toEqual(['first', 'the second'])
  }
})

test('other data has another hash', () => {
  expect(hashOf('{"request_id":"a","data":[1]}')?.hash).not.toBe(
    hashOf('{"request_id":"a","data":[2]}')?.hash,
  )
})

test('a request_id in the data is data', () => {
  const hash = (id: string) => hashOf(`{"data":[{"request_id":"${id}"}],"request_id":"x"}`)?.hash
  expect(hash('a')).not.toBe(hash('b'))
  expect(hashOf('{"data":[{"request_id":"a"}]}')).toBeNull()
})

test('without a request_id near either end there is no hash', () => {
  const far = ' '.repeat(600)
  expect(hashOf(`{"request_id"${far}:"a","data":[]}`)).toBeNull()
  expect(hashOf(`{"data":[],"request_id":"a"${far}}`)).toBeNull()
  expect(hashOf('{"request_id":"a","data":{}}')).toBeNull()
  expect(hashOf('{"request_id":"a\\n","data":[]}')).toBeNull()
})

test('two bodies with one hash have the same data, wherever they differ', () => {
  const nasty = fc.string({ unit: fc.constantFrom('a', '[', ']', '"', '\\', '"request_id":"', ',', ' ') })
  const value = fc.oneof(nasty, { weight: 3, arbitrary: fc.constantFrom('plain', 'another', 'a]b', '[', '') })
  const text = fc.oneof(nasty, { weight: 2, arbitrary: fc.constant('HERE') })
  const inner = fc.record({ request_id: text })
  const member = fc.tuple(
    fc.oneof(nasty, { weight: 3, arbitrary: fc.constant('request_id') }),
    fc.oneof({ weight: 3, arbitrary: text }, inner),
  )
  const members = fc.array(member, { minLength: 1, maxLength: 3 })
  const body = fc.tuple(members, fc.array(fc.oneof(text, inner), { maxLength: 3 }), members)
  let equal = 0
  fc.assert(
    fc.property(body, value, value, ([before, data, after], one, other) => {
      const [first, second] = [one, other].map(here => {
        const json = [...before, ['data', data], ...after].map(
          ([key, v]) => `${JSON.stringify(key)}:${JSON.stringify(v)}`,
        )
        return `{${json.join()}}`.replaceAll('HERE', () => JSON.stringify(here).slice(1, -1))
      }) as [string, string]
      const hash = hashOf(first)?.hash
      if (first === second || hash === undefined || hash !== hashOf(second)?.hash) return
      equal += 1
      expect(JSON.parse(second).data).toEqual(JSON.parse(first).data)
    }),
    { numRuns: 10_000 },
  )
  expect(equal).toBeGreaterThan(50)
})
