import { reasonOf } from '#src/model/reason.ts'
import { QueueRefused } from './refused.ts'

/** Why Redis refuses a command, without a full stop and without the script that it was in. */
function replyOf(error: unknown): string {
  return reasonOf(error)
    .replace(/\s*script: [0-9a-f]+, on @user_script:\d+\.?/, '')
    .replace(/\.+$/, '')
}

/** The remedy for a command that Redis refuses; undefined if it is unknown. */
export function adviceOnReply(message: string): string | undefined {
  if (message.startsWith('NOPERM'))
    return 'Let the user of REDIS_URL use every command on its keys: ACL SETUSER … +@all ~{ferry:*'
  if (/^(WRONGPASS|NOAUTH)/.test(message))
    return 'Correct the password in the file REDIS_PASSWORD_FILE, or in REDIS_URL.'
  if (message.startsWith('OOM')) return 'Raise its maxmemory, or remove other data from it.'
  if (message.startsWith('READONLY')) return 'Set REDIS_URL to its master.'
  if (message.startsWith('MISCONF')) return 'Redis cannot write to its disk: free some space.'
  if (/MOVED|CROSSSLOT|CLUSTERDOWN/.test(message)) return 'Ferry does not support Redis Cluster.'
  return undefined
}

/** That Redis cannot be reached, or does not let Ferry in. */
export function unreachable(url: string, error: unknown): QueueRefused {
  const why = replyOf(error)
  return new QueueRefused(`Redis at ${hostOf(url)} (REDIS_URL) cannot be used: ${why}. ${adviceOn(why)}`, {
    mayPass: !isForGood(why),
  })
}

/** That the queue could be reached, but did not take what a worker needs of it. */
export function unfit(where: string, error: unknown): QueueRefused {
  const why = replyOf(error)
  const advice = adviceOnReply(why)
  return new QueueRefused(
    `${where} cannot hold the queue: ${why}. ${advice ?? 'Fix this, or unset REDIS_URL to keep the queue in Postgres.'}`,
    { mayPass: advice === undefined, cause: error },
  )
}

/** Wrong passwords, missing rights and untrusted certificates do not pass by themselves. */
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

/** Host and port, without user and password. */
export function hostOf(url: string): string {
  const { hostname, port } = new URL(url)
  return `${hostname}:${port || 6379}`
}
