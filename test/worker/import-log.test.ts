import { pino } from 'pino'
import { describe, expect, test } from 'vitest'
import type { JobOutcome } from '#jobs/job.ts'
import { cancelImport } from '#src/imports/control/decide.ts'
import { createCapacity } from '#src/worker/capacity.ts'
import { processImport } from '#src/worker/process-import.ts'
import { ADA } from '#test/support/acted-by.ts'
import { startWorker } from '../jobs/start-worker.ts'
import { IMPORTS, openImportQueueHarness } from './import-queue-harness.ts'
import { BACKENDS } from './queue-harness.ts'

type Line = { level: string; msg: string; [key: string]: unknown }

function openLines() {
  const lines: Line[] = []
  const log = pino(
    { level: 'info', base: null, formatters: { level: label => ({ level: label }) } },
    { write: line => lines.push(JSON.parse(line)) },
  )
  return { lines, log }
}

describe.each(BACKENDS)('on %s, what a worker logs of an import', kind => {
  async function open(env: Record<string, string> = {}) {
    const harness = await openImportQueueHarness(kind, env)
    const { lines, log } = openLines()
    const loud = { ...harness.ferry, log }
    /** Works until it is over; a line is written by the time the worker is drained. */
    const linesOf = async (id: bigint, status: string) => {
      const worker = await startWorker(loud, IMPORTS)
      await harness.queue.add('import-subscribers', { import: `${id}` })
      await harness.ended(id, status)
      await harness.processed()
      await worker.drain(20_000)
      return lines.filter(line => line.import === `${id}` && line.status === status)
    }
    return Object.assign(harness, { linesOf })
  }

  test('that is completed is one line with its numbers, and no recipient', async () => {
    await using harness = await open()
    const id = await harness.stage({ rows: 12, batchRows: 5 })
    const lines = await harness.linesOf(id, 'completed')
    expect(lines).toEqual([
      {
        level: 'info',
        time: expect.any(Number),
        import: `${id}`,
        account: 'default',
        page: expect.any(String),
        status: 'completed',
        read: 12,
        sent: 12,
        rejected: 0,
        uncertain: 0,
        pending: 0,
        msg: 'An import is completed.',
      },
    ])
    expect(JSON.stringify(lines)).not.toContain('@')
  })

  test('that the platform refuses is a warning with why, the request_id and what to do', async () => {
    await using harness = await open()
    harness.sandbox.state.inject({ kind: 'error', status: 403, code: 'AccessDenied' }, { every: 1 })
    const id = await harness.stage({ rows: 3 })
    const [line, ...more] = await harness.linesOf(id, 'paused')
    const paused = await harness.importRow(id)
    expect(more).toEqual([])
    expect(line).toMatchObject({
      level: 'warn',
      errorCode: 'AccessDenied',
      requestId: paused.pause_request_id,
      sent: 0,
      pending: 3,
    })
    const why = `${paused.pause_message} ${paused.pause_what_to_do}`
    expect(line!.msg).toBe(`An import is paused. ${why} \`ferry imports show ${id}\` says what to do.`)
  })

  test('that a person must decide about is a warning that says how', async () => {
    await using harness = await open()
    harness.sandbox.state.inject({ kind: 'drop' }, { every: 1 })
    const id = await harness.stage({ rows: 3, onUncertain: 'hold' })
    const [line, ...more] = await harness.linesOf(id, 'undecided')
    expect(more).toEqual([])
    expect(line).toMatchObject({ level: 'warn', uncertain: 3 })
    expect(line!.msg).toContain('decision about 3 rows')
    expect(line!.msg).toContain(`\`ferry imports show ${id}\``)
    expect(line!.msg).toContain(`\`ferry imports resolve ${id} --as sent\``)
  })

  test('that ended before is nothing, however often workers look at it', async () => {
    await using harness = await open()
    const id = await harness.stage({ status: 'paused' })
    expect(await harness.linesOf(id, 'paused')).toEqual([])
  })
})

test('a worker logs a cancellation, but not that an import gave way, waits or was stopped', async () => {
  await using harness = await openImportQueueHarness('postgres')
  const { lines, log } = openLines()
  let status: JobOutcome['status'] = 'yielded'
  const processor = {
    context: { ...harness.ferry, log },
    jobs: [{ name: 'import-subscribers', run: async () => ({ status }) }],
    queue: harness.openQueue('import'),
    capacity: createCapacity(1),
  }
  const { signal } = new AbortController()
  /** Processes an import that a person cancels meanwhile. */
  const process = async () => {
    const id = await harness.stage({ rows: 3 })
    processor.jobs[0]!.run = async () => {
      await cancelImport(harness.ferry.pool, id, ADA)
      return { status }
    }
    const signals = { signal, cutOff: signal }
    return { id, end: await processImport(processor, 'import-subscribers', { import: `${id}` }, signals) }
  }
  for (status of ['yielded', 'skipped', 'stopped'] as const) {
    expect((await process()).end).toBe(status === 'stopped' ? 'given back' : 'done')
  }
  expect(lines).toEqual([])
  status = 'succeeded'
  const { id } = await process()
  expect(lines).toMatchObject([{ level: 'info', import: `${id}`, msg: 'An import was cancelled.' }])
})
