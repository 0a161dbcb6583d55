import { pino } from 'pino'
import { describe, expect, test } from 'vitest'
import { createImportReport } from '#src/queue/import-report.ts'
import { work } from '../jobs/setup.ts'
import { IMPORT_JOBS, openImportRoom } from './import-room.ts'
import { BACKENDS } from './setup.ts'

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
  async function room(env: Record<string, string> = {}) {
    const world = await openImportRoom(kind, env)
    const { lines, log } = openLines()
    const loud = { ...world.ferry, log }
    /** Works until it is over; a line is written by the time the worker is drained. */
    const linesOf = async (id: bigint, status: string) => {
      const worker = await work(loud, IMPORT_JOBS)
      await world.queue.add('import-subscribers', { import: `${id}` })
      await world.ended(id, status)
      await world.answered()
      await worker.drain(20_000)
      return lines.filter(line => line.import === `${id}` && line.status === status)
    }
    return Object.assign(world, { linesOf })
  }

  test('that is completed is one line with its numbers, and no recipient', async () => {
    await using world = await room()
    const id = await world.stage({ rows: 12, batchRows: 5 })
    const lines = await world.linesOf(id, 'completed')
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
    await using world = await room()
    world.sandbox.state.inject({ kind: 'error', status: 403, code: 'AccessDenied' }, { every: 1 })
    const id = await world.stage({ rows: 3 })
    const [line, ...more] = await world.linesOf(id, 'paused')
    const paused = await world.importRow(id)
    expect(more).toEqual([])
    expect(line).toMatchObject({
      level: 'warn',
      errorCode: 'AccessDenied',
      requestId: paused.pause_request_id,
      sent: 0,
      pending: 3,
    })
    expect(line!.msg).toContain(paused.pause_message)
    expect(line!.msg).toContain(paused.pause_what_to_do)
    expect(line!.msg).toContain(`\`ferry imports show ${id}\``)
  })

  test('that somebody must decide about is a warning that says how', async () => {
    await using world = await room()
    world.sandbox.state.inject({ kind: 'drop' }, { every: 1 })
    const id = await world.stage({ rows: 3, onUncertain: 'hold' })
    const [line, ...more] = await world.linesOf(id, 'undecided')
    expect(more).toEqual([])
    expect(line).toMatchObject({ level: 'warn', uncertain: 3 })
    expect(line!.msg).toContain('decision about 3 rows')
    expect(line!.msg).toContain(`\`ferry imports show ${id}\`, then \`ferry imports resolve\``)
  })

  test('that was over before is nothing, however often workers look at it', async () => {
    await using world = await room()
    const id = await world.stage({ status: 'paused' })
    expect(await world.linesOf(id, 'paused')).toEqual([])
  })
})

test('that an import only gave way, or waits, is no news; a cancellation is', async () => {
  await using world = await openImportRoom('postgres')
  const { lines, log } = openLines()
  const id = await world.stage({ rows: 3, status: 'cancelled' })
  const report = createImportReport({ pool: world.ferry.pool, log })
  for (const end of ['yielded', 'busy', 'waiting', 'stopped'] as const) await report(id, end)
  expect(lines).toEqual([])
  await report(id, 'cancelled')
  expect(lines).toMatchObject([{ level: 'info', import: `${id}`, msg: 'An import was cancelled.' }])
})
