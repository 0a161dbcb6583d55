import { Redis, ReplyError } from 'ioredis'
import type { Secret } from '#src/model/secret.ts'
import { CHECK } from './kind.ts'
import { withPassword } from './redis-password.ts'
import { hostOf, unfit, unreachable } from './redis-replies.ts'
import { QueueRefused } from './refused.ts'

const OLDEST = [6, 2] as const

/** Returns which server it is, in words. Throws `QueueRefused` if this Redis would lose jobs or cannot be used. */
export async function checkRedis(url: string, password: Secret | null = null): Promise<string> {
  const info = readInfo(await askForInfo(url, password))
  const where = `${info.server} ${info.version} at ${hostOf(url)}`
  if (isTooOld(info.version)) {
    throw new QueueRefused(
      `${where} is too old: the queue needs Redis ${OLDEST.join('.')} or newer, or Valkey.`,
    )
  }
  if (info.mode === 'sentinel') {
    throw new QueueRefused(
      `${where} is a Redis Sentinel, which Ferry does not support. ` +
        'Set REDIS_URL to a name that follows the master, or unset it to keep the queue in Postgres.',
    )
  }
  if (info.mode === 'cluster') {
    throw new QueueRefused(
      `${where} is a node of a Redis Cluster, which Ferry does not support. ` +
        'Set REDIS_URL to a single Redis server, or unset it to keep the queue in Postgres.',
    )
  }
  if (info.role !== 'master') {
    throw new QueueRefused(
      `${where} is a replica, which does not accept writes. Set REDIS_URL to its master.`,
    )
  }
  if (info.policy !== 'noeviction') {
    throw new QueueRefused(
      `${where} may evict jobs: its maxmemory-policy is ${info.policy}. Set it to noeviction ` +
        '(`redis-cli config set maxmemory-policy noeviction`, and in its redis.conf), or unset REDIS_URL.',
    )
  }
  return `${where}, ${info.policy}`
}

type Info = {
  readonly server: string
  readonly version: string
  readonly policy: string
  readonly mode: 'standalone' | 'sentinel' | 'cluster'
  readonly role: string
}

/** Valkey calls itself Redis 7.2 in `redis_version`, for old programs; its own version is another field. */
export function readInfo(info: string): Info {
  const fields = new Map(
    info.split(/\r?\n/).map(line => [line.split(':', 1)[0] ?? '', line.slice(line.indexOf(':') + 1)]),
  )
  const valkey = fields.get('valkey_version')
  const mode = fields.get('redis_mode') ?? fields.get('server_mode')
  return {
    server: valkey ? 'Valkey' : 'Redis',
    version: valkey ?? fields.get('redis_version') ?? 'of unknown version',
    policy: fields.get('maxmemory_policy') ?? 'unknown',
    mode: mode === 'sentinel' || mode === 'cluster' ? mode : 'standalone',
    role: fields.get('role') ?? 'master',
  }
}

function isTooOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return !(major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]))
}

async function askForInfo(url: string, password: Secret | null): Promise<string> {
  const redis = new Redis(url, {
    ...withPassword(password),
    lazyConnect: true,
    retryStrategy: () => null,
    connectTimeout: 5_000,
    commandTimeout: 5_000,
    maxRetriesPerRequest: 0,
  })
  // What `connect` throws only says that the connection is closed; the reason comes as an event.
  let reason: Error | undefined
  redis.on('error', error => {
    reason = error
  })
  try {
    await redis.connect()
    await selectAgain(redis, hostOf(url))
    return await redis.info()
  } catch (error) {
    if (error instanceof QueueRefused) throw error
    throw unreachable(url, reason ?? error)
  } finally {
    redis.disconnect()
  }
}

/** If the database of the URL does not exist, ioredis uses database 0 without an error; asking again shows it. */
async function selectAgain(redis: Redis, host: string): Promise<void> {
  const { db = 0 } = redis.options
  if (db === 0) return
  await redis.select(db).catch(error => {
    if (!(error instanceof ReplyError)) throw error
    throw new QueueRefused(
      `Redis at ${host} has no database ${db}: ${error.message}. ` +
        'Name another at the end of REDIS_URL (0 is always there), or raise `databases` in its redis.conf.',
    )
  })
}

/** A worker waits for jobs by a read that blocks. Throws `QueueRefused` if this user of Redis may not do that. */
export async function checkBlockingRead(url: string, password: Secret | null, prefix: string): Promise<void> {
  const redis = new Redis(url, {
    ...withPassword(password),
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
    commandTimeout: 5_000,
  })
  redis.on('error', () => {})
  try {
    await redis.bzpopmin(`${prefix}:${CHECK}`, 0.01)
  } catch (error) {
    throw unfit(`Redis at ${hostOf(url)}`, error)
  } finally {
    redis.disconnect()
  }
}
