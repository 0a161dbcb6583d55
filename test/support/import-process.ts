import { once } from 'node:events'
import { flushCompileCache } from 'node:module'
import { pino } from 'pino'
import { JOBS } from '#jobs/index.ts'
import { defineSchedules } from '#jobs/schedules.ts'
import { openQueue } from '#src/cli/queue.ts'
import { readConfig } from '#src/config.ts'
import { openFerry } from '#src/ferry.ts'
import { openWorker } from '#src/worker/worker.ts'

/*
 * A worker in a process of its own, to be killed, suspended or cut off by a test. Settings come as JSON in the first
 * argument. It gets ready, says so, and begins to work once it hears anything.
 */
process.on('disconnect', () => process.exit())
const { signal } = new AbortController()
const log = pino({ level: process.env.FERRY_TEST_LOG_LEVEL ?? 'silent' })
const config = readConfig(JSON.parse(process.argv[2] ?? '{}'))
const ferry = await openFerry(config, { log, signal })
const queue = await openQueue(ferry)
flushCompileCache() // for those that follow; whoever is killed would leave nothing
process.send?.('ready')
await once(process, 'message')
await openWorker(ferry, queue, { jobs: JOBS, schedules: defineSchedules(ferry) })
