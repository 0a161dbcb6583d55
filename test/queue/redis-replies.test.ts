import { expect, test } from 'vitest'
import { unfit, unreachable } from '#src/queue/redis-replies.ts'

const URL = 'redis://ferry:secret@cache.internal/1'

test.for([
  [
    'WRONGPASS invalid username-password pair or user is disabled.',
    'Correct the password in the file',
    false,
  ],
  ['NOAUTH Authentication required.', 'Correct the password in the file', false],
  ["NOPERM User ferry has no permissions to run the 'get' command", 'ACL SETUSER', false],
  ['OOM command not allowed when used memory > maxmemory', 'Raise its maxmemory', true],
  ["READONLY You can't write against a read only replica.", 'Set REDIS_URL to its master.', true],
  ['MISCONF Redis is configured to save RDB snapshots', 'Redis cannot write to its disk', true],
  ['MOVED 866 127.0.0.1:7001', 'Ferry does not support Redis Cluster.', true],
  ['CLUSTERDOWN Hash slot not served', 'Ferry does not support Redis Cluster.', true],
  ['self-signed certificate in chain', 'NODE_EXTRA_CA_CERTS', false],
  ["Hostname/IP does not match certificate's altnames", 'NODE_EXTRA_CA_CERTS', false],
  ['connect ECONNREFUSED 127.0.0.1:6379', 'Check REDIS_URL and that it runs', true],
] as const)('of %j the remedy is said, and whether it may pass', ([reply, remedy, mayPass]) => {
  const refused = unreachable(URL, new Error(reply))
  expect(refused.message).toContain(
    `Redis at cache.internal:6379 (REDIS_URL) cannot be used: ${reply.replace(/\.$/, '')}. `,
  )
  expect(refused.message).toContain(remedy)
  expect(refused.message).not.toContain('secret')
  expect(refused.mayPass).toBe(mayPass)
})

test('what refuses a job for a known reason stays, and what is unknown may pass', () => {
  const cause = new Error('OOM command not allowed. script: 0aff, on @user_script:12.')
  const known = unfit('Redis at cache:6379', cause)
  expect(known).toMatchObject({ mayPass: false, cause })
  expect(known.message).toMatch(
    /^Redis at cache:6379 cannot hold the queue: OOM command not allowed\. Raise its maxmemory/,
  )
  const unknown = unfit('Redis at cache:6379', new Error('LOADING Redis is loading the dataset in memory'))
  expect(unknown.mayPass).toBe(true)
  expect(unknown.message).toContain('in memory. Fix this, or unset REDIS_URL')
})
