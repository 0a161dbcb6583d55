import { pino } from 'pino'
import { readConfig } from '#src/config.ts'
import { openFerry } from '#src/ferry.ts'
import { syncInventory } from '#src/inventory/sync.ts'

/*
 * One sync of alert rules in a process of its own, to be killed or suspended by a test. Settings come as JSON in the
 * first argument; the result is sent to the parent.
 */
const { signal } = new AbortController()
const config = readConfig(JSON.parse(process.argv[2] ?? '{}'))
await using ferry = await openFerry(config, { log: pino({ level: 'silent' }), signal })
const request = { account: 'default', resource: 'alert-rules', trigger: 'manual' } as const
const { status, errorCode } = await syncInventory(ferry, request, signal)
process.send?.({ status, errorCode })
process.disconnect?.()
