import { expect, test } from 'vitest'
import { readConfig } from '#src/config.ts'
import { USUAL_EVENTS } from '#src/model/event.ts'
import { fileHolding, mistakesOf } from '#test/support/settings.ts'

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const URL_SET = 'https://hooks.example.com/canary'

const fileOf = (...receivers: unknown[]) => ({
  FERRY_RECEIVERS_FILE: fileHolding(JSON.stringify({ receivers })),
})

test('a receiver has what its entry says, and the usual values for the rest', () => {
  const { receivers } = readConfig({
    FERRY_WEBHOOK_URL: URL_SET,
    TEAM_SECRET: SECRET,
    ...fileOf(
      { name: 'plain', url: URL_SET },
      {
        name: 'team',
        urlFile: fileHolding('https://hooks.slack.com/services/T/B/x\n'),
        secretEnv: 'TEAM_SECRET',
        events: ['rule.*', 'removals.held'],
        filter: {
          folders: [12, '18446744073709551615'],
          labels: { env: 'prod', team: ['a', 'b'] },
          people: ['Eve'],
        },
        details: true,
        digest: 'daily at 8:05',
      },
    ),
  }).notify
  expect(receivers.map(({ name }) => name)).toEqual(['webhook', 'plain', 'team'])
  expect(receivers[1]).toMatchObject({
    format: 'standard',
    kinds: USUAL_EVENTS,
    key: null,
    details: false,
    digestCron: null,
    filter: { accounts: null, folders: null, teams: null, labels: null, fields: null, people: null },
  })
  expect(receivers[2]).toMatchObject({
    format: 'slack',
    kinds: ['removals.held', 'rule.disabled', 'rule.removed', 'rule.changed', 'rule.added'],
    details: true,
    digestCron: '5 8 * * *',
    filter: { folders: ['12', '18446744073709551615'], labels: { env: ['prod'], team: ['a', 'b'] } },
  })
  expect(receivers[2]?.key?.reveal()).toBe(SECRET.slice(6))
})

test('every mistake is named at once, with its path, and no secret is repeated', () => {
  const mistakes = mistakesOf({
    FERRY_WEBHOOK_URL: URL_SET,
    ...fileOf(
      { name: 'A', url: 'ftp://canary', digest: 'at eight', filter: { folder: [1], fields: ['cron'] } },
      { name: 'b', events: ['rule.off'], details: 'yes' },
      { name: 'c', url: URL_SET, urlFile: 'x', secretEnv: 'C', secretFile: 'y' },
      { name: 'd', url: 'http://10.0.0.1/canary', secretEnv: 'UNSET_SECRET' },
      { name: 'e', urlFile: fileHolding('canary') },
      { name: 'webhook', url: URL_SET },
    ),
  })
  const words = mistakes.join('\n')
  for (const mistake of [
    'receivers[0].name is not a name',
    'receivers[0].url is not an http URL',
    'receivers[0].digest "at eight" is not a time of the day',
    'receivers[0].filter has "folder", which is not a known key; did you mean folders?',
    'receivers[0].filter.fields[0] "cron" is not a field of alert rules',
    'receivers[1].events[0] "rule.off" is not an event',
    'receivers[1].details is neither true nor false',
    'receivers[1] needs either url or urlFile',
    'receivers[2] needs either url or urlFile',
    'receivers[2] has secretEnv',
    'receiver d would send its messages to 10.0.0.1 in plain http',
    'receiver d: UNSET_SECRET is not set',
    'is not an http URL',
    'two receivers have the name webhook',
  ]) {
    expect(words).toContain(mistake)
  }
  expect(words).not.toContain('canary')
  expect(words).toContain('FERRY_RECEIVERS_FILE: receivers[0].name is not a name')
  expect(mistakesOf({ FERRY_RECEIVERS_FILE: fileHolding('{"canary"') })[0]).toMatch(
    /^FERRY_RECEIVERS_FILE: .*is not JSON/,
  )
})

test('the address of the console has no slash at its end, and nothing beside it', () => {
  expect(readConfig({ FERRY_PUBLIC_URL: 'https://ferry.example.com/x/' }).notify.publicUrl).toBe(
    'https://ferry.example.com/x',
  )
  expect(readConfig({ FERRY_PUBLIC_URL: 'http://ferry.internal:8080' }).notify.publicUrl).toBe(
    'http://ferry.internal:8080',
  )
  for (const wrong of ['ferry', 'ftp://a.b', 'https://u:p@a.b', 'https://a.b/?x=1']) {
    expect(mistakesOf({ FERRY_PUBLIC_URL: wrong })[0]).toContain(
      'FERRY_PUBLIC_URL: is not the address of a console',
    )
  }
})
