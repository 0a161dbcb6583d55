import { expect, test } from 'vitest'
import { isRefusal } from '#src/cli/run-result.ts'

test.each([
  ['Unauthorized', 400, true],
  ['AccessDenied', 200, true],
  ['NewCodeOfThePlatform', 403, true],
  ['NoEnvelope', 403, false],
  ['NoAnswer', 401, false],
  ['InternalError', 500, false],
])('%s with HTTP %i is a refusal: %s', (code, httpStatus, refused) => {
  expect(isRefusal(code, httpStatus)).toBe(refused)
})
