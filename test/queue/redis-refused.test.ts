import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { checkQueue, reachQueue } from '#src/queue/check.ts'
import { runFerry } from '../cli/run-ferry.ts'
import { freePort, hasRedisServer, startRedis } from '../support/own-redis.ts'

const check = (redisUrl: string) => checkQueue({ databaseUrl: '', redisUrl, installation: 'test' })

describe.skipIf(!hasRedisServer)('a Redis on which the queue cannot work is refused by name:', () => {
  test('a node of a cluster', async () => {
    await using redis = await startRedis(['--cluster-enabled', 'yes'])
    await expect(check(redis.url)).rejects.toThrow(/node of a Redis Cluster, which Ferry does not support/)
  })

  test('one without memory, before anything was made in the database, and nothing of the trial is left', async () => {
    await using redis = await startRedis()
    const untried = { databaseUrl: '', redisUrl: redis.url, installation: null }
    expect(await checkQueue(untried)).toMatch(/a job can be added$/)
    expect(await redis.admin.keys('*')).toEqual([])
    await redis.admin.config('SET', 'maxmemory', '1')
    const refused = await checkQueue(untried).catch(error => error)
    expect(refused.message).toMatch(/cannot hold the queue: .*OOM.*Raise its maxmemory/)
    expect(refused.message).not.toMatch(/user_script|\.\./)
  })

  test('a user without scripts, before anything was made in the database', async () => {
    await using redis = await startRedis()
    await redis.admin.call('acl', 'setuser', 'ferry', 'on', '>secret', '+@all', '-@scripting', '~*')
    const redisUrl = redis.url.replace('://', '://ferry:secret@')
    await expect(checkQueue({ databaseUrl: '', redisUrl, installation: null })).rejects.toThrow(/NOPERM/)
  })

  test('a replica', async () => {
    await using redis = await startRedis(['--replicaof', '127.0.0.1', '1'])
    await expect(check(redis.url)).rejects.toThrow(/is a replica.*Set REDIS_URL to its master/)
  })

  test('one without memory', async () => {
    await using redis = await startRedis(['--maxmemory', '1'])
    await expect(check(redis.url)).rejects.toThrow(/cannot hold the queue: .*OOM.*Raise its maxmemory/)
  })

  test.for([
    ['without scripts', '+@all -@scripting ~*'],
    ['without blocking reads', '+@all -@blocking ~*'],
    ['with another prefix', '+@all ~other:*'],
    ['that may only read', '+@read +@connection +info ~*'],
  ] as const)('a user %s', async ([, rules]) => {
    await using redis = await startRedis()
    await redis.admin.call('acl', 'setuser', 'ferry', 'on', '>secret', ...rules.split(' '))
    const url = redis.url.replace('://', '://ferry:secret@')
    await expect(check(url)).rejects.toThrow(/NOPERM.*ACL SETUSER/)
    await expect(check(url)).rejects.not.toThrow('secret')
  })

  test('but not a user who may use what the documentation names', async () => {
    await using redis = await startRedis()
    const rules = '~{ferry:* &* +@all -@admin'.split(' ')
    await redis.admin.call('acl', 'setuser', 'ferry', 'on', '>secret', ...rules)
    expect(await check(redis.url.replace('://', '://ferry:secret@'))).toMatch(
      /noeviction; a job can be added$/,
    )
    expect(await redis.admin.keys('{ferry:test}:*:check')).toEqual([])
  })
})

test('a Redis that is starting is waited for, which is logged once, but not for ever', async () => {
  const redisUrl = `redis://127.0.0.1:${await freePort()}`
  const log = pino({ level: 'silent' })
  const told = vi.spyOn(log, 'info')
  const reached = reachQueue(
    { databaseUrl: '', redisUrl, installation: 'test' },
    { retryForMs: 1_500, signal: new AbortController().signal, log },
  )
  await expect(reached).rejects.toThrow(/ECONNREFUSED/)
  expect(told.mock.calls.map(([, words]) => words)).toEqual(['Waiting for the queue.'])
})

test.skipIf(!hasRedisServer)('a Sentinel is refused by name', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'ferry-test-sentinel-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  const config = join(directory, 'sentinel.conf')
  writeFileSync(config, 'sentinel monitor main 127.0.0.1 1 1\n')
  await using redis = await startRedis([], undefined, [config, '--sentinel'])
  await expect(check(redis.url)).rejects.toThrow(/is a Redis Sentinel/)
})

const speaksTls =
  hasRedisServer &&
  spawnSync('openssl', ['version']).status === 0 &&
  spawnSync('redis-cli', ['--help'], { encoding: 'utf8' }).stdout?.includes('--tls')

test.skipIf(!speaksTls)(
  'a Redis with a certificate of a private CA is used with NODE_EXTRA_CA_CERTS, and refused without',
  async () => {
    const directory = mkdtempSync(join(tmpdir(), 'ferry-test-ca-'))
    onTestFinished(() => rm(directory, { recursive: true }))
    const [key, certificate] = [join(directory, 'key.pem'), join(directory, 'ca.pem')]
    const request = `req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost -keyout ${key} -out ${certificate}`
    execFileSync('openssl', [...request.split(' '), '-addext', 'subjectAltName=IP:127.0.0.1'], {
      stdio: 'ignore',
    })
    const port = await freePort()
    const tls = `--tls-port ${port} --tls-cert-file ${certificate} --tls-key-file ${key} --tls-auth-clients no`
    await using _redis = await startRedis(tls.split(' '))
    const env = { DATABASE_URL: 'postgres://127.0.0.1:9/x', REDIS_URL: `rediss://127.0.0.1:${port}` }
    const refused = await runFerry(['doctor'], env)
    expect(refused.stdout).toMatch(/^FAIL {2}queue .*certificate.*NODE_EXTRA_CA_CERTS/m)
    const trusted = await runFerry(['doctor'], { ...env, NODE_EXTRA_CA_CERTS: certificate })
    expect(trusted.stdout).toMatch(/^ok {4}queue .*noeviction/m)
  },
)
