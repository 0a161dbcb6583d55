import { createRedisBackend, Queue, Worker } from 'bullmq'
import type { Secret } from '#src/model/secret.ts'
import { withBackOff } from './back-off.ts'
import { FEW_EVENTS, type QueueKind, RUN_RETRY_MS, SILENT_MS } from './kind.ts'
import { withPassword } from './redis-password.ts'

/** Queues in Redis, whose keys begin with `prefixOf(installation)`. */
export function inRedis(url: string, password: Secret | null, installation: string): QueueKind {
  const prefix = prefixOf(installation)
  const connection = {
    url,
    ...withPassword(password),
    socketTimeout: SILENT_MS,
    keepAlive: 10_000,
    // After a failover the master is elsewhere: the name of REDIS_URL is looked up anew.
    reconnectOnError: (error: Error) => error.message.startsWith('READONLY'),
  }
  return {
    openQueue: name =>
      new Queue(
        name,
        { connection: { ...connection, maxRetriesPerRequest: 1 }, prefix, streams: FEW_EVENTS },
        createRedisBackend,
      ),
    openWorker: (name, process, concurrency, outage) =>
      new Worker(
        name,
        process,
        {
          connection: { ...connection, maxRetriesPerRequest: null },
          prefix,
          autorun: false,
          concurrency,
          runRetryDelay: RUN_RETRY_MS,
        },
        withBackOff(createRedisBackend, outage),
      ),
  }
}

/** All keys of one installation begin with this. The braces keep them on one node of a cluster. */
export function prefixOf(installation: string): string {
  return `{ferry:${installation}}`
}
