/*
 * The messages of the queues: wake-ups. A wake-up contains no work and no personal data. It may get lost or come
 * twice: Postgres says what is due, and leases in Postgres say who does it.
 */

/** Asks a worker to look at a schedule. `job` is the name of the schedule. */
export type ScheduleWakeUp = { readonly job: string; readonly account: string }

/** Asks a worker to look at an import, by its id. */
export type ImportWakeUp = { readonly import: string }

/** The wake-ups of each queue. There are two, however many accounts: every queue costs connections. */
export type WakeUps = { readonly sync: ScheduleWakeUp; readonly import: ImportWakeUp }
export type QueueName = keyof WakeUps
export const QUEUE_NAMES: readonly QueueName[] = ['sync', 'import']
