import { format, inspect } from 'node:util'
import { expect, test } from 'vitest'
import { Secret } from '#src/model/secret.ts'

test('a secret shows itself to whoever asks for it, and to nobody else', () => {
  const secret = new Secret('hush')
  expect(secret.reveal()).toBe('hush')
  const shown = [
    `${secret}`,
    String(secret),
    JSON.stringify({ secret }),
    inspect({ secret }),
    inspect(secret, { showHidden: true }),
    format('%s %o %j', secret, secret, secret),
    JSON.stringify(Object.entries(secret)),
  ]
  for (const text of shown) expect(text).not.toContain('hush')
})
