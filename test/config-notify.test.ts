import { expect, test } from 'vitest'
import { readConfig } from '#src/config.ts'
import { EVENT_KINDS } from '#src/model/event.ts'
import { fileHolding, mistakesOf } from '#test/support/settings.ts'

const URL_SET = { FERRY_WEBHOOK_URL: 'https://hooks.example.com/services/T0/canary?x=1' }
const BYTES = Buffer.alloc(32, 7).toString('base64')

test('a receiver has its address, its secret from a variable or a file, and a format', () => {
  const [webhook] = readConfig({ ...URL_SET, FERRY_WEBHOOK_SECRET: `whsec_${BYTES}` }).notify.receivers
  expect(webhook?.url.reveal()).toBe(URL_SET.FERRY_WEBHOOK_URL)
  expect(webhook?.key?.reveal()).toBe(BYTES)
  expect(webhook?.format).toBe('standard')
  const fromFile = readConfig({ ...URL_SET, FERRY_WEBHOOK_SECRET_FILE: fileHolding(`whsec_${BYTES}\n`) })
  expect(fromFile.notify.receivers[0]?.key?.reveal()).toBe(BYTES)
})

test('Slack is known by its address, and a compatible chat by the setting', () => {
  const formatOf = (env: Record<string, string>) => readConfig(env).notify.receivers[0]?.format
  expect(formatOf({ FERRY_WEBHOOK_URL: 'https://hooks.slack.com/services/T/B/x' })).toBe('slack')
  expect(formatOf({ ...URL_SET, FERRY_WEBHOOK_FORMAT: 'slack' })).toBe('slack')
})

test('events are chosen by their names; an unknown one is refused with the nearest', () => {
  const chosen = (FERRY_NOTIFY?: string) =>
    readConfig({ ...URL_SET, ...(FERRY_NOTIFY && { FERRY_NOTIFY }) }).notify.receivers[0]?.kinds
  const ofRules = ['rule.disabled', 'rule.removed', 'rule.changed', 'rule.added']
  expect(chosen()).toEqual(EVENT_KINDS.filter(kind => !ofRules.includes(kind)))
  expect(chosen('import.paused, removals.held')).toEqual(['removals.held', 'import.paused'])
  expect(chosen('rule.*')).toEqual(ofRules)
  expect(chosen('all,rule.disabled')).toEqual([...chosen()!, 'rule.disabled'])
  const [mistake] = mistakesOf({ FERRY_NOTIFY: 'removals.hold,all' })
  expect(mistake).toContain('"removals.hold" is not an event; did you mean removals.held?')
})

test.for([
  [{ FERRY_WEBHOOK_URL: 'ftp://hooks.example.com/canary' }, 'FERRY_WEBHOOK_URL: is not an http URL'],
  [{ FERRY_WEBHOOK_URL: 'https://a:canary@hooks.example.com' }, 'FERRY_WEBHOOK_URL: contains a user'],
  [{ FERRY_WEBHOOK_URL: 'https://canary@hooks.example.com' }, 'FERRY_WEBHOOK_URL: contains a user'],
  [{ FERRY_WEBHOOK_URL: 'https://:canary@hooks.example.com' }, 'FERRY_WEBHOOK_URL: contains a user'],
  [{ FERRY_WEBHOOK_URL: 'http://10.0.0.1/canary' }, 'to 10.0.0.1 in plain http'],
  [{ FERRY_HEARTBEAT_URL: 'http://hc.example.com/canary' }, 'to hc.example.com in plain http'],
  [{ ...URL_SET, FERRY_WEBHOOK_SECRET: 'whsec_Y2FuYXJ5' }, 'FERRY_WEBHOOK_SECRET: is not a webhook secret'],
  [{ ...URL_SET, FERRY_WEBHOOK_SECRET: `canary${BYTES}` }, 'FERRY_WEBHOOK_SECRET: is not a webhook secret'],
] as const)('a wrong setting is named, and no secret is repeated: %j', ([env, words]) => {
  const mistakes = mistakesOf(env).join('\n')
  expect(mistakes).toContain(words)
  expect(mistakes).not.toMatch(/canary|Y2FuYXJ5/)
})

test('a wrong secret is answered with a command that makes a right one', () => {
  const wrong = 'whsec_Y2FuYXJ5'
  const [mistake = ''] = mistakesOf({ ...URL_SET, FERRY_WEBHOOK_SECRET: wrong })
  expect(mistake).toBe(
    'FERRY_WEBHOOK_SECRET: is not a webhook secret; write whsec_ and 24 to 64 bytes in base64: echo "whsec_$(openssl rand -base64 32)"',
  )
  const ofBytes = (length: number) => `whsec_${Buffer.alloc(length, 7).toString('base64')}`
  const mistakes = (length: number) => mistakesOf({ ...URL_SET, FERRY_WEBHOOK_SECRET: ofBytes(length) })
  for (const length of [24, 32, 64]) expect(mistakes(length), `${length}`).toEqual([])
  for (const length of [23, 65]) expect(mistakes(length), `${length}`).toEqual([mistake])
})

test('plain http is allowed to this machine, and elsewhere if FERRY_ALLOW_HTTP says so', () => {
  const url = 'http://hooks.internal/ferry'
  expect(readConfig({ FERRY_WEBHOOK_URL: 'http://localhost:9/x' }).notify.receivers).toHaveLength(1)
  expect(readConfig({ FERRY_WEBHOOK_URL: url, FERRY_ALLOW_HTTP: '1' }).notify.receivers).toHaveLength(1)
})
