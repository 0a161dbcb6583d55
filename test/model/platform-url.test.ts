import { expect, test } from 'vitest'
import { isPlatformPattern, platformUrlOf } from '#src/model/platform-url.ts'

test('the address of a rule has its ids wherever the pattern names them', () => {
  const rule = { id: '7', account_id: '8', folder_id: '9/?' }
  expect(platformUrlOf('https://a/{account_id}/{folder_id}/{id}?rule={id}', rule)).toBe(
    'https://a/8/9%2F%3F/7?rule=7',
  )
  expect(platformUrlOf('https://a/{name}', rule)).toBe('https://a/{name}')
})

test.for([
  ['https://app.example.com/rule/{id}', true],
  ['https://{account_id}.example.com/', true],
  ['http://localhost:3000/{id}', true],
  ['http://127.0.0.1/{id}', true],
  ['http://[::1]/{id}', true],
  ['http://app.example.com/{id}', false],
  ['https://app.example.com/{name}', false],
  ['https://app.example.com/}', false],
  ['https://user@app.example.com/{id}', false],
  ['https://:password@app.example.com/{id}', false],
  ['javascript:alert({id})', false],
  ['/rule/{id}', false],
  ['', false],
] as const)('a browser may be sent to %j: %s', ([pattern, may]) => {
  expect(isPlatformPattern(pattern)).toBe(may)
})
