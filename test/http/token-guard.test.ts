import { Agent } from 'node:http'
import { pino } from 'pino'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createTokenGuard } from '#src/http/token-guard.ts'
import { Secret } from '#src/model/secret.ts'
import { BOTH_TOKENS, basic, bearing, OPERATE_TOKEN, READ_TOKEN } from './console/console-harness.ts'
import { ask, openHttpHarness, openTestHttp } from './http-harness.ts'
import { readScrape } from './scrape.ts'

const METRICS_TOKEN = 'metrics-12345678901234567890'
const GUESSER = '127.0.8.1'
const ANOTHER = '127.0.8.2'

/** A server on which every door asks for a token, and what it logs. */
async function openGuarded() {
  const lines: string[] = []
  const log = pino({}, { write: line => lines.push(line) })
  const http = await openTestHttp({ console: BOTH_TOKENS, metricsToken: new Secret(METRICS_TOKEN), log })
  return {
    lines,
    ask: (path: string, headers: Record<string, string>, localAddress: string) =>
      ask(http.address + path, { headers, agent: new Agent({ localAddress }) }),
    [Symbol.asyncDispose]: () => http[Symbol.asyncDispose](),
  }
}

/** The lines about wrong tokens. */
function loggedIn(lines: readonly string[]): { failures: number }[] {
  return lines.filter(line => line.includes('Wrong tokens')).map(line => JSON.parse(line))
}

describe.each([
  { door: '/sign-in', scheme: /^Basic realm=/, right: bearing(OPERATE_TOKEN), welcome: 303 },
  { door: '/metrics', scheme: /^Bearer$/, right: bearing(METRICS_TOKEN), welcome: 200 },
])('at $door', ({ door, scheme, right, welcome }) => {
  test('ten wrong tokens are compared, and then none of that address, not even the right one', async () => {
    await using guarded = await openGuarded()
    for (let guess = 0; guess < 10; guess += 1) {
      const refused = await guarded.ask(door, bearing(`guess ${guess}`), GUESSER)
      expect(refused.status).toBe(401)
      expect(refused.headers['www-authenticate']).toMatch(scheme)
    }
    for (const headers of [bearing('guess'), right]) {
      const braked = await guarded.ask(door, headers, GUESSER)
      expect(braked.status).toBe(429)
      expect(braked.headers['www-authenticate']).toMatch(scheme)
      expect(Number(braked.headers['retry-after'])).toBeGreaterThan(0)
      expect(Number(braked.headers['retry-after'])).toBeLessThanOrEqual(6)
    }
    expect((await guarded.ask(door, right, ANOTHER)).status).toBe(welcome)
  })

  test('who gives no token, or the right one, guesses none', async () => {
    await using guarded = await openGuarded()
    for (let time = 0; time < 15; time += 1) {
      expect((await guarded.ask(door, {}, GUESSER)).status).toBe(401)
      expect((await guarded.ask(door, right, GUESSER)).status).toBe(welcome)
    }
  })
})

test('without the token /freshness names nothing, and a wrong one is a guess', async () => {
  await using harness = await openHttpHarness({ metricsToken: new Secret(METRICS_TOKEN) })
  expect(Object.keys((await harness.get('/freshness')).json)).toEqual(['fresh'])
  expect(Object.keys((await harness.get('/freshness', bearing('guess'))).json)).toEqual(['fresh'])
  const named = await harness.get('/freshness', bearing(METRICS_TOKEN))
  expect(named.json).toMatchObject({ fresh: false, inventories: [] })
  const { text } = await harness.get('/metrics', bearing(METRICS_TOKEN))
  expect(readScrape(text).value('ferry_token_failures_total', { door: 'metrics', outcome: 'wrong' })).toBe(1)
  // Whoever guessed too often is told nothing, and learns of no token whether it is the right one.
  for (let guess = 0; guess < 9; guess += 1) await harness.get('/freshness', bearing('guess'))
  expect(Object.keys((await harness.get('/freshness', bearing(METRICS_TOKEN))).json)).toEqual(['fresh'])
})

test('the brake is one for all doors', async () => {
  await using guarded = await openGuarded()
  for (let guess = 0; guess < 5; guess += 1) {
    await guarded.ask('/metrics', bearing('guess'), GUESSER)
    await guarded.ask('/', basic('me', 'guess'), GUESSER)
  }
  expect((await guarded.ask('/', {}, GUESSER)).status).toBe(401)
  expect((await guarded.ask('/sign-in', bearing(OPERATE_TOKEN), GUESSER)).status).toBe(429)
  expect((await guarded.ask('/metrics', bearing(METRICS_TOKEN), GUESSER)).status).toBe(429)
})

test('a browser that signed in stays so while others guess at its address, and a script gets no cookie', async () => {
  await using guarded = await openGuarded()
  const signedIn = await guarded.ask('/', basic('anna', READ_TOKEN), GUESSER)
  const [cookie = ''] = signedIn.headers['set-cookie'] ?? []
  expect(cookie).toMatch(/; HttpOnly; SameSite=Strict$/)
  expect((await guarded.ask('/', bearing(READ_TOKEN), GUESSER)).headers['set-cookie']).toBeUndefined()
  for (let guess = 0; guess < 11; guess += 1) await guarded.ask('/', bearing('guess'), GUESSER)
  const headers = { ...basic('anna', READ_TOKEN), cookie: cookie.split(';')[0]! }
  expect((await guarded.ask('/', basic('anna', READ_TOKEN), GUESSER)).status).toBe(429)
  // This worker only starts: the visitor got in.
  expect((await guarded.ask('/', headers, GUESSER)).status).toBe(503)
})

test('failures are counted, and logged once in ten seconds, without the tokens', async () => {
  await using guarded = await openGuarded()
  for (let guess = 0; guess < 12; guess += 1) await guarded.ask('/', bearing('guess-of-somebody'), GUESSER)
  await guarded.ask('/metrics', bearing('guess-of-somebody'), ANOTHER)
  const { text } = await guarded.ask('/metrics', bearing(METRICS_TOKEN), ANOTHER)
  const failures = (door: string, outcome: string) =>
    readScrape(text).value('ferry_token_failures_total', { door, outcome })
  expect(failures('console', 'wrong')).toBe(10)
  expect(failures('console', 'braked')).toBe(2)
  expect(failures('metrics', 'wrong')).toBe(1)
  const logged = loggedIn(guarded.lines)
  expect(logged).toMatchObject([{ level: 40, door: 'console', address: GUESSER, failures: 1 }])
  await guarded[Symbol.asyncDispose]()
  const sum = loggedIn(guarded.lines).reduce((before, { failures }) => before + failures, 0)
  expect(sum).toBe(13)
  expect(guarded.lines.join()).not.toContain('guess-of-somebody')
})

describe('the brake', () => {
  function setup() {
    let nowMs = 0
    const lines: Record<string, unknown>[] = []
    const log = pino({}, { write: line => lines.push(JSON.parse(line)) })
    const guard = createTokenGuard({ log, onFailure: () => {}, clock: () => nowMs })
    return {
      lines,
      pass: (ms: number) => {
        nowMs += ms
      },
      guess: (address: string) => guard.check('console', address, () => null),
      right: (address: string) => guard.check('console', address, () => 'in'),
      end: () => guard[Symbol.dispose](),
    }
  }

  test('lets one more try in each six seconds, and all ten after a minute', () => {
    const { guess, pass, right } = setup()
    for (let time = 0; time < 10; time += 1) expect(guess('a')).toEqual({ is: 'wrong' })
    expect(guess('a')).toEqual({ is: 'wait', seconds: 6 })
    pass(5_999)
    expect(right('a')).toEqual({ is: 'wait', seconds: 1 })
    pass(1)
    expect(right('a')).toEqual({ is: 'right', value: 'in' })
    expect(guess('a')).toEqual({ is: 'wrong' })
    expect(guess('a')).toEqual({ is: 'wait', seconds: 6 })
    pass(60_000)
    for (let time = 0; time < 10; time += 1) expect(guess('a')).toEqual({ is: 'wrong' })
    expect(guess('a').is).toBe('wait')
    pass(3_600_000)
    for (let time = 0; time < 10; time += 1) expect(guess('a')).toEqual({ is: 'wrong' })
    expect(guess('a').is).toBe('wait')
  })

  test('counts the addresses of one IPv6 network together', () => {
    const { guess } = setup()
    for (let host = 0; host < 10; host += 1) guess(`2001:db8::${host}`)
    expect(guess('2001:db8::ffff').is).toBe('wait')
    expect(guess('2001:db8:0:1::1').is).toBe('wrong')
  })

  test('remembers 10,000 addresses, and forgets the one whose last wrong token is oldest', () => {
    const { guess } = setup()
    for (const address of ['first', 'second']) for (let time = 0; time < 10; time += 1) guess(address)
    for (let other = 0; other < 9_999; other += 1) guess(`other ${other}`)
    expect(guess('second').is).toBe('wait')
    expect(guess('first').is).toBe('wrong')
  })

  test('forgets no address that goes on guessing before one that stopped', () => {
    const { guess } = setup()
    for (const address of ['goes on', 'stopped', 'goes on']) {
      for (let time = 0; time < 5; time += 1) guess(address)
    }
    for (let other = 0; other < 9_999; other += 1) guess(`other ${other}`)
    expect(guess('goes on').is).toBe('wait')
  })

  describe('says in the log', () => {
    beforeEach(() => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
      onTestFinished(() => void vi.useRealTimers())
    })

    test('how many of a burst failed, though nobody guesses after it', () => {
      const { guess, lines } = setup()
      for (let time = 0; time < 30; time += 1) guess('a')
      guess('b')
      vi.advanceTimersByTime(9_999)
      expect(lines).toMatchObject([{ address: 'a', failures: 1 }])
      vi.advanceTimersByTime(1)
      expect(lines).toMatchObject([{ failures: 1 }, { address: 'b', door: 'console', failures: 30 }])
      vi.advanceTimersByTime(60_000)
      expect(lines).toHaveLength(2)
    })

    test('the first failure after a pause at once, and one line in ten seconds of those that go on', () => {
      const { guess, lines } = setup()
      guess('a')
      vi.advanceTimersByTime(10_000)
      guess('b')
      expect(lines).toMatchObject([{ address: 'a' }, { address: 'b', failures: 1 }])
      guess('b')
      vi.advanceTimersByTime(10_000)
      guess('b')
      guess('b')
      expect(lines).toHaveLength(3)
      vi.advanceTimersByTime(10_000)
      expect(lines.slice(2)).toMatchObject([{ failures: 1 }, { failures: 2 }])
    })

    test('what failed last, also if the worker ends', () => {
      const { guess, end, lines } = setup()
      for (let time = 0; time < 5; time += 1) guess('a')
      end()
      expect(lines).toMatchObject([{ failures: 1 }, { address: 'a', failures: 4 }])
      expect(vi.getTimerCount()).toBe(0)
    })
  })
})
