import { expect, test } from 'vitest'
import { ndjsonOfRejects } from '#src/imports/reporting/reject-lines.ts'

const REJECT = { line: 7n, reason: 'no address', message: 'it is empty', request_id: null }
const ADDED = '"line":7,"reason":"no address","message":"it is empty","request_id":null'

test.for([
  ['{"n":1.50,"id":12345678901234567890}', '"n":1.50,"id":12345678901234567890,'],
  ['  { "n": 1 }\t', '"n": 1,'],
  ['{}', ''],
  ['[1]', '"raw":"[1]",'],
  ['not JSON', '"raw":"not JSON",'],
] as const)('a reject of %s is its own text with the reasons after it', ([raw, members]) => {
  const line = ndjsonOfRejects(['recipient']).lineOf({ ...REJECT, raw })
  expect([raw, line]).toEqual([raw, `{${members}${ADDED}}\n`])
})
