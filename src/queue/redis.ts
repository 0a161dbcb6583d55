import { Redis, ReplyError } from 'ioredis'
import { reasonOf } from '#src/model/reason.ts'

/** The queue cannot be used as it is; the message says what to do. */
export class QueueRefused extends Error {
  override readonly name = 'QueueRefused'
}

const OLDEST = [6, 2] as const

/** Returns what was found, in words. Throws `QueueRefused` if this Redis would lose jobs or cannot be used. */
export async function checkRedis(url: string): Promise<string> {
  const { server, version, policy } = readInfo(await askForInfo(url))
  const where = `${server} ${version} at ${hostOf(url)}`
  if (isTooOld(version)) {
    throw new QueueRefused(
      `${where} is too old: the queue needs Redis ${OLDEST.join('.')} or newer, or Valkey.`,
    )
  }
  if (policy !== 'noeviction') {
    throw new QueueRefused(
      `${where} may throw jobs away: its maxmemory-policy is ${policy}. Set it to noeviction ` +
        '(`redis-cli config set maxmemory-policy noeviction`, and in its redis.conf), or unset REDIS_URL.',
    )
  }
  return `${where}, ${policy}`
}

type Info = { readonly server: string; readonly version: string; readonly policy: string }

/** Valkey calls itself Redis 7.2 in `redis_version`, for old programs; its own version is another field. */
export function readInfo(info: string): Info {
  const fields = new Map(
    info.split(/\r?\n/).map(line => [line.split(':', 1)[0] ?? '', line.slice(line.indexOf(':') + 1)]),
  )
  const valkey = fields.get('valkey_version')
  return {
    server: valkey ? 'Valkey' : 'Redis',
    version: valkey ?? fields.get('redis_version') ?? 'of unknown version',
    policy: fields.get('maxmemory_policy') ?? 'unknown',
  }
}

function isTooOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return !(major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]))
}

async function askForInfo(url: string): Promise<string> {
  const redis = new Redis(url, {
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
    throw new QueueRefused(
      `Redis at ${hostOf(url)} cannot be used: ${reasonOf(reason ?? error)}. ` +
        'Check REDIS_URL and that it runs, or unset REDIS_URL to keep the queue in Postgres.',
    )
  } finally {
    redis.disconnect()
  }
}

/** ioredis goes on in database 0 if the one it was told does not exist: only one that is asked for again says so. */
async function selectAgain(redis: Redis, host: string): Promise<void> {
  const { db = 0 } = redis.options
  if (db === 0) return
  await redis.select(db).catch(error => {
    if (!(error instanceof ReplyError)) throw error
    throw new QueueRefused(
      `Redis at ${host} gives no database ${db}: ${error.message}. ` +
        'Name another at the end of REDIS_URL (0 is always there), or raise `databases` in its redis.conf.',
    )
  })
}

/** The address without user and password. */
function hostOf(url: string): string {
  return new URL(url).host
}
