import { afterEach, beforeEach, expect, type MockInstance, test, vi } from 'vitest'
import { explain } from '#src/cli/errors.ts'
import { EXIT } from '#src/cli/exit.ts'

/* What a command says of an error that ends it, and its exit code. */

let stderr: MockInstance<typeof process.stderr.write>
beforeEach(() => {
  stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
})
afterEach(() => stderr.mockRestore())

function explained(properties: object): { code: number; said: string } {
  const code = explain(Object.assign(new Error('It broke.'), properties))
  return { code, said: stderr.mock.calls.map(([text]) => text).join('') }
}

const UNEXPECTED = 'This error is unexpected. Please report it with these lines:\n'

test.for([
  ['UsageError', EXIT.usage, ''],
  ['ConfigurationError', EXIT.usage, ''],
  ['UnknownSchedule', EXIT.usage, ''],
  ['NoSuchSnapshot', EXIT.usage, ''],
  ['ImportNotFound', EXIT.usage, ''],
  ['AddressUnusable', EXIT.usage, UNEXPECTED],
  ['DataDirUnusable', EXIT.usage, UNEXPECTED],
  ['NoPostgresYet', EXIT.usage, UNEXPECTED],
  ['SchemaMissing', EXIT.usage, UNEXPECTED],
  ['FileRefused', EXIT.usage, UNEXPECTED],
  ['CommandFailed', EXIT.failed, ''],
  ['DatabaseIsNewer', EXIT.failed, ''],
  ['NothingToApprove', EXIT.failed, ''],
  ['QueueRefused', EXIT.failed, ''],
  ['ImportRefuses', EXIT.failed, ''],
  ['TypeError', EXIT.failed, UNEXPECTED],
] as const)('%s exits %i, and its message is enough or it has lines to report', ([name, code, more]) => {
  const explanation = explained({ name })
  expect(explanation.code).toBe(code)
  expect(explanation.said.slice(0, `ferry: It broke.\n${more}`.length)).toBe(`ferry: It broke.\n${more}`)
  if (more === '') expect(explanation.said).toBe('ferry: It broke.\n')
  // What the error itself says to do comes in place of both.
  stderr.mockClear()
  expect(explained({ name, whatToDo: 'Mend it.' })).toEqual({ code, said: 'ferry: It broke.\nMend it.\n' })
})

const LOST = 'The connection to the database was lost.'
const LOCKED = 'Another transaction held a lock for too long.'

test.for([
  ['EADDRINUSE', 'Another program uses this port.'],
  ['EACCES', 'Run Ferry as a user that has the right to do this'],
  ['ENOSPC', 'Free some disk space.'],
  ['53100', 'Free some disk space.'],
  ['42501', 'Run `ferry migrate` as the owner of the tables'],
  ['53300', 'Raise max_connections'],
  ['25006', 'The server accepts no writes'],
  ['57014', 'Postgres cancelled a statement: it took longer than a statement_timeout'],
  ['25P03', 'Postgres ended a transaction that was idle for too long.'],
  ['25P04', 'Postgres ended a transaction that was idle for too long.'],
  ...['40001', '40P01', '55P03'].map(code => [code, LOCKED] as const),
  ...['08006', '57P01', 'ECONNREFUSED', 'EPIPE', 'ETIMEDOUT', 'EAI_AGAIN'].map(code => [code, LOST] as const),
  ...['ENOTFOUND', 'EHOSTUNREACH', 'ENETUNREACH'].map(code => [code, LOST] as const),
] as const)('of the code %s it says what to do, also if it is that of a cause', ([code, advice]) => {
  const [said, ofCause] = [
    explained({ code }),
    explained({ cause: Object.assign(new Error('Why.'), { code }) }),
  ]
  expect(said.code).toBe(EXIT.failed)
  expect(said.said.split('\n')[1]?.slice(0, advice.length)).toBe(advice)
  expect(ofCause.said.split('\n').at(-2)).toBe(said.said.split('\n')[1])
})

test('a path that cannot be used, and a moment whose versions were removed, are wrong usage', () => {
  for (const code of ['ENOTDIR', 'ENOENT', 'EACCES', 'EPERM', 'EROFS', 'ENAMETOOLONG', 'ELOOP', 'EEXIST']) {
    stderr.mockClear()
    const { code: exit, said } = explained({ code, path: '/x', syscall: 'mkdir' })
    expect([exit, said.split('\n')[1]]).toEqual([
      EXIT.usage,
      expect.stringMatching(/^Ferry keeps its files in FERRY_DATA_DIR\./),
    ])
    expect(explained({ code, path: '/x' }).code).toBe(EXIT.failed)
    expect(explained({ code, syscall: 'mkdir' }).code).toBe(EXIT.failed)
  }
  stderr.mockClear()
  expect(explained({ code: 'FE001' })).toEqual({
    code: EXIT.usage,
    said: 'ferry: It broke.\nFERRY_KEEP_VERSIONS says how long versions are kept.\n',
  })
})

test('the lines to report are five frames, and every cause', () => {
  const cause = new Error('The first.', { cause: new Error('The second.') })
  const { said } = explained({ cause, stack: `Error: It broke.\n${'    at frame (x.ts:1:1)\n'.repeat(9)}` })
  expect(said).toBe(
    `ferry: It broke.\n${UNEXPECTED}${'    at frame (x.ts:1:1)\n'.repeat(5)}  caused by Error: The first.\n  caused by Error: The second.\n`,
  )
  stderr.mockClear()
  expect(explained({ message: '', code: 'E1' }).said).toMatch(/^ferry: E1\n/)
  stderr.mockClear()
  expect(explained({ message: '', name: 'Odd' }).said).toMatch(/^ferry: Odd\n/)
})
