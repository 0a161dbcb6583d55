import { randomBytes } from 'node:crypto'
import { Client, DatabaseError } from 'pg'
import { QueueRefused } from './refused.ts'

/** A notification within one server takes milliseconds. */
const NOTIFIED_WITHIN_MS = 3_000
const PROTOCOL_VIOLATION = '08P01'

/** A setting like the one that the queue's connections begin with. */
const OPTIONS = '-c search_path=ferry_queue'

const WHAT_TO_DO =
  'Set REDIS_URL, so that the queue lives in Redis, or give DATABASE_URL the address of the Postgres server itself.'

/**
 * Throws `QueueRefused` if the queue cannot work through the connection pooler between Ferry and Postgres. The queue
 * begins its sessions with settings of their own, and listens for notifications.
 */
export async function expectSessions(url: string): Promise<void> {
  const options = { connectionString: url, application_name: 'ferry queue', connectionTimeoutMillis: 10_000 }
  const listener = new Client({ ...options, options: OPTIONS })
  const notifier = new Client(options)
  try {
    await connect(listener)
    const { rows } = await listener.query<{ path: string }>(`select current_setting('search_path') as path`)
    if (rows[0]?.path !== 'ferry_queue') throw refusal('it drops the settings with which a session begins')
    await connect(notifier)
    if (!(await isNotified(listener, notifier)))
      throw refusal('it pools transactions, and loses notifications')
  } finally {
    await Promise.all([listener.end(), notifier.end()])
  }
}

async function connect(client: Client): Promise<void> {
  client.on('error', () => {})
  await client.connect().catch(error => {
    if (!(error instanceof DatabaseError) || error.code !== PROTOCOL_VIOLATION) throw error
    throw refusal(error.message, error)
  })
}

async function isNotified(listener: Client, notifier: Client): Promise<boolean> {
  const channel = `ferry_${randomBytes(8).toString('hex')}`
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => resolve(false), NOTIFIED_WITHIN_MS)
  listener.on('notification', message => {
    if (message.channel === channel) resolve(true)
  })
  await listener.query(`listen ${channel}`)
  await notifier.query(`notify ${channel}`)
  return promise.finally(() => clearTimeout(timer))
}

function refusal(why: string, cause?: unknown): QueueRefused {
  return new QueueRefused(
    `The queue in Postgres does not work through the connection pooler of DATABASE_URL: ${why}. ${WHAT_TO_DO}`,
    { cause },
  )
}
