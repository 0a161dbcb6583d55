import { expect, test } from 'vitest'
import { AddressUnusable } from '#src/http/listener.ts'

test.for([
  ['EADDRINUSE', 'another program uses this port'],
  ['EADDRNOTAVAIL', 'this machine does not have this address'],
  ['ENOTFOUND', 'this name does not resolve to an address'],
  ['EAI_AGAIN', 'this name does not resolve to an address'],
  ['EACCES', 'this user is not allowed to use this port'],
  ['EMFILE', 'too many open files'],
] as const)('that HTTP cannot listen because of %s is said in words', ([code, words]) => {
  const cause = Object.assign(new Error('too many open files'), { code })
  expect(new AddressUnusable('0.0.0.0:80', cause)).toMatchObject({
    message: `HTTP cannot listen on 0.0.0.0:80: ${words}.`,
    whatToDo: expect.stringContaining('FERRY_HTTP_PORT'),
    cause,
  })
})
