import { Redis, ReplyError } from 'ioredis'
import { reasonOf } from '#src/model/reason.ts'
import { QueueRefused } from './refused.ts'

const OLDEST = [6, 2] as const

/** Returns what was found, in words. Throws `QueueRefused` if this Redis would lose jobs or cannot be used. */
export async function checkRedis(url: string): Promise<string> {
  const info = readInfo(await askForInfo(url))
  const where = `${info.server} ${info.version} at ${hostOf(url)}`
  if (isTooOld(info.version)) {
    throw new QueueRefused(
      `${where} is too old: the queue needs Redis ${OLDEST.join('.')} or newer, or Valkey.`,
    )
  }
  if (info.mode === 'sentinel') {
    throw new QueueRefused(
      `${where} is a Redis Sentinel, which Ferry does not ask for its master. ` +
        'Set REDIS_URL to a name that follows the master, or unset it to keep the queue in Postgres.',
    )
  }
  if (info.mode === 'cluster') {
    throw new QueueRefused(
      `${where} is a node of a Redis Cluster, which Ferry does not support. ` +
        'Set REDIS_URL to a Redis of its own, or unset it to keep the queue in Postgres.',
    )
  }
  if (info.role !== 'master') {
    throw new QueueRefused(
      `${where} is a replica, on which nothing can be written. Set REDIS_URL to its master.`,
    )
  }
  if (info.policy !== 'noeviction') {
    throw new QueueRefused(
      `${where} may throw jobs away: its maxmemory-policy is ${info.policy}. Set it to noeviction ` +
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

/** Why Redis refuses a command, without a full stop and without the script that it was in. */
export function replyOf(error: unknown): string {
  return reasonOf(error)
    .replace(/\s*script: [0-9a-f]+, on @user_script:\d+\.?/, '')
    .replace(/\.+$/, '')
}

/** What to do about a command that Redis refuses; undefined if nothing is known about it. */
export function adviceOnReply(message: string): string | undefined {
  if (message.startsWith('NOPERM'))
    return 'Let the user of REDIS_URL use every command on its keys: ACL SETUSER … +@all ~{ferry:*'
  if (message.startsWith('OOM')) return 'Raise its maxmemory, or remove what else fills it.'
  if (message.startsWith('READONLY')) return 'Set REDIS_URL to its master.'
  if (message.startsWith('MISCONF')) return 'Redis cannot write to its disk: make room there.'
  if (/MOVED|CROSSSLOT|CLUSTERDOWN/.test(message)) return 'Ferry does not support Redis Cluster.'
  return undefined
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
    const why = replyOf(reason ?? error)
    throw new QueueRefused(`Redis at ${hostOf(url)} (REDIS_URL) cannot be used: ${why}. ${adviceOn(why)}`, {
      mayPass: !isForGood(why),
    })
  } finally {
    redis.disconnect()
  }
}

/** Wrong passwords, missing rights and untrusted certificates do not mend themselves. */
function isForGood(reason: string): boolean {
  return /^(WRONGPASS|NOAUTH|NOPERM|ERR)/.test(reason) || isUntrusted(reason)
}

function isUntrusted(reason: string): boolean {
  return /certificate|altnames|SSL|TLS/i.test(reason)
}

function adviceOn(reason: string): string {
  if (isUntrusted(reason)) {
    return 'If it has a certificate of your own CA, set NODE_EXTRA_CA_CERTS to the file of that CA; plain Redis is redis:, not rediss:.'
  }
  const advice = adviceOnReply(reason)
  return advice ?? 'Check REDIS_URL and that it runs, or unset REDIS_URL to keep the queue in Postgres.'
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

/** Host and port, without user and password. */
export function hostOf(url: string): string {
  const { hostname, port } = new URL(url)
  return `${hostname}:${port || 6379}`
}
