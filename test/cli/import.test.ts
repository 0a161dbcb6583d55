import { readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { SANDBOX_PAGE_ID } from '#src/sandbox/state.ts'
import { holdLease, leasesOf, removeLeases } from '#test/support/leases.ts'
import { file, HEADER, open, PAGE, pathOf, people, subscribed } from './import-files.ts'
import { jsonLines, SUMMARY_KEYS } from './run-ferry.ts'

describe('ferry import --dry-run', () => {
  test('shows what would be sent, stores nothing and calls nothing', async () => {
    await using cli = await open()
    const path = people(
      1200,
      'p1@example.com,true,,en-US',
      'nobody,true,,en-US',
      'x@example.com,false,,en-US',
    )
    const ended = await cli.ferryRun(`import ${path} ${PAGE} --dry-run`)
    expect(ended.code).toBe(3)
    expect(ended.stdout).toContain('CSV, separated by comma')
    expect(ended.stdout).toMatch(/^ *1,203 +read/m)
    expect(ended.stdout).toMatch(/^ *1,200 +to be sent/m)
    expect(ended.stdout).toMatch(/^ *1 +duplicate/m)
    expect(ended.stdout).toMatch(/^ *1,203 +read/m)
    expect(ended.stdout).toMatch(/1,200 rows to page 5750613685214 of account default, in 3 calls: at once\./)
    expect(ended.stdout).not.toContain('p1@example.com')

    const lines = jsonLines(await cli.ferryRun(`import ${path} ${PAGE} --dry-run --yes --wait --json`))
    expect(Object.keys(lines.at(-1)!)).toEqual(SUMMARY_KEYS)
    expect(lines.at(-1)).toMatchObject({
      import: null,
      page: `${SANDBOX_PAGE_ID}`,
      status: 'staging',
      read: 1203,
      pending: 1200,
      duplicate: 1,
      rejected: 2,
      batches: 3,
      requests: 0,
    })
    expect(lines[0]).toMatchObject({ staged: { format: 'csv', delimiter: ',', samples: expect.any(Array) } })
    const [sample] = (lines[0]!.staged as { samples: object[] }).samples
    expect(Object.keys(sample!)).toEqual(['line', 'recipient', 'all', 'componentIds', 'locale'])
    for (const table of [
      'imports',
      'import_recipients',
      'import_rejects',
      'import_left_out',
      'platform_calls',
    ]) {
      expect(await cli.query(`select from ferry.${table}`)).toEqual([])
    }
  })
})

test('a dry run tells as many calls as are made, where bytes bound a batch too', async () => {
  await using cli = await open()
  const ids = Array.from({ length: 100 }, (_, n) => `01HZX00000000000000000${1000 + n}`).join('|')
  const path = file([HEADER, ...Array.from({ length: 1000 }, (_, n) => `p${n}@example.com,,${ids},en-US`)])
  const [, dry] = jsonLines(await cli.ferryRun(`import ${path} ${PAGE} --dry-run --json`))
  const done = jsonLines(await cli.ferryRun(`import ${path} ${PAGE} --yes --wait --json`)).at(-1)
  expect([dry?.batches, done?.requests, done?.sent]).toEqual([3, 3, 1000])
})

describe('ferry import --yes --wait', () => {
  test('does all of it here; the same file again sends nothing, corrected settings go with --update', async () => {
    await using cli = await open()
    const path = people(7)
    const ended = await cli.ferryRun(`import ${path} ${PAGE} --batch 3 --yes --wait --json`)
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    const summary = jsonLines(ended).at(-1)!
    expect(Object.keys(summary)).toEqual(SUMMARY_KEYS)
    expect(summary).toEqual({
      import: '1',
      account: 'default',
      page: `${SANDBOX_PAGE_ID}`,
      status: 'completed',
      read: 7,
      sent: 7,
      rejected: 0,
      duplicate: 0,
      suppressed: 0,
      alreadyImported: 0,
      uncertain: 0,
      pending: 0,
      batches: 3,
      requests: 3,
      durationMs: expect.any(Number),
    })
    expect(subscribed(cli)).toBe(7)
    const [shown] = jsonLines(await cli.ferryRun('imports show 1 --json'))
    expect(shown).toEqual(summary)

    await cli.ferryRun('imports purge 1 --yes')
    const purged = jsonLines(await cli.ferryRun('imports recipients 1 P3@example.com --json'))
    expect(purged).toMatchObject([{ line: '5', recipient: null, state: 'sent', batch: '2' }])

    const again = await cli.ferryRun(`import ${path} ${PAGE} --yes --wait --json`)
    expect(again.code).toBe(0)
    expect(jsonLines(again).at(-1)).toMatchObject({ import: '2', alreadyImported: 7, sent: 0, requests: 0 })

    const corrected = file([HEADER, 'p1@example.com,true,,de-DE', 'p2@example.com,true,,en-US'])
    const updated = await cli.ferryRun(`import ${corrected} ${PAGE} --yes --wait --update --json`)
    expect(jsonLines(updated).at(-1)).toMatchObject({ sent: 1, alreadyImported: 1, requests: 1 })
  })

  test('exits 3 with rejects, which can be written once, corrected and imported', async () => {
    await using cli = await open()
    const ended = await cli.ferryRun(`import ${people(2, 'nobody,true,,en-US')} ${PAGE} --yes --wait`)
    expect(ended.code).toBe(3)
    expect(ended.stderr).toContain(
      '1 row rejected. `ferry imports rejects 1 --out rejects-1.csv` writes the rejected rows',
    )

    const out = pathOf('rejects.csv')
    expect(await cli.ferryRun(`imports rejects 1 --out ${out}`)).toMatchObject({ code: 0, stdout: '' })
    for (const command of ['imports rejects 1', 'imports rejects 1 --out -']) {
      expect((await cli.ferryRun(command)).stdout).toBe(readFileSync(out, 'utf8'))
    }
    expect(await cli.ferryRun(`imports rejects 1 --out ${out}`)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('already exists; name a new file'),
    })
    writeFileSync(out, readFileSync(out, 'utf8').replace('nobody', 'somebody@example.com'))
    expect(await cli.ferryRun(`import ${out} ${PAGE} --yes --wait`)).toMatchObject({ code: 0 })
    expect(subscribed(cli)).toBe(3)
  })

  test('exits 4 if the platform refuses the key, and continues once that is corrected', async () => {
    await using cli = await open()
    const wrong = { FERRY_APP_KEY: 'wrong' }
    const refused = await cli.ferryRun(`import ${people(3)} ${PAGE} --yes --wait --json`, wrong)
    expect(refused.code).toBe(4)
    expect(jsonLines(refused).at(-1)).toMatchObject({ status: 'paused', sent: 0, pending: 3 })
    const [{ pause_request_id } = {}] = await cli.query('select pause_request_id from ferry.imports')
    expect(refused.stderr).toContain('Unauthorized')
    expect(refused.stderr).toContain(
      `\`ferry imports resume 1\` continues it, \`ferry imports cancel 1\` ends it. request_id ${pause_request_id}`,
    )
    const resumed = await cli.ferryRun('imports resume 1 --wait --json')
    expect(resumed.code).toBe(0)
    expect(jsonLines(resumed).at(-1)).toMatchObject({ status: 'completed', sent: 3 })
  })

  test('exits 5 if a person is to decide about an unknown outcome', async () => {
    await using cli = await open()
    cli.sandbox.state.inject({ kind: 'error', code: 'InternalError', applied: true }, { nth: 1 })
    const held = await cli.ferryRun(
      `import ${people(4)} ${PAGE} --batch 2 --on-uncertain hold --yes --wait --json`,
    )
    expect(held.code).toBe(5)
    expect(jsonLines(held).at(-1)).toMatchObject({ status: 'undecided', sent: 2, uncertain: 2 })
    expect(held.stderr).toContain('`ferry imports resolve 1 --as resend` sends them again')
    expect((await cli.ferryRun('imports resolve 1 --as resend')).stdout).toContain('It is queued.')
    expect((await cli.ferryRun('imports resume 1 --wait')).code).toBe(0)
    expect(subscribed(cli)).toBe(4)
  })

  test('pauses after the first rows if that is asked for', async () => {
    await using cli = await open()
    const first = await cli.ferryRun(`import ${people(5)} ${PAGE} --first 2 --yes --wait --json`)
    expect(first.code).toBe(5)
    // The first rows have a batch of their own.
    const counts = { read: 5, batches: 2 }
    expect(jsonLines(await cli.ferryRun('imports list --json')).at(-1)).toMatchObject({ batches: 2 })
    expect(jsonLines(first).at(-1)).toMatchObject({ ...counts, status: 'paused', sent: 2, pending: 3 })
    const dry = await cli.ferryRun(`import ${people(5)} ${PAGE} --first 2 --dry-run --json`)
    expect(jsonLines(dry).at(-1)).toMatchObject(counts)
    const whole = await cli.ferryRun(`import ${people(5)} ${PAGE} --first 5 --dry-run --json`)
    expect(jsonLines(whole).at(-1)).toMatchObject({ batches: 1 })
    expect((await cli.ferryRun('imports resume 1 --wait')).code).toBe(0)
    expect(jsonLines(await cli.ferryRun('imports list --json')).at(-1)).toMatchObject({ batches: 2 })
    expect(subscribed(cli)).toBe(5)
  })

  test('stops at Ctrl-C after the calls in flight, says how to go on, and nobody is lost', async () => {
    await using cli = await open()
    const called = Promise.withResolvers<void>()
    const answer = Promise.withResolvers<void>()
    cli.sandbox.state.onCall(async () => {
      called.resolve()
      await answer.promise
      return undefined
    })
    await using ferry = cli.ferryStart(`import ${people(40)} ${PAGE} --batch 2 --yes --wait --json`)
    await called.promise
    ferry.child.kill('SIGINT')
    await ferry.printed('finishing the calls in flight')
    answer.resolve()
    const ended = await ferry.ended
    expect(ended).toMatchObject({ code: 130, signal: null })
    expect(ended.stderr).toContain('`ferry imports resume 1 --wait` does here')
    const { sent, pending, uncertain } = jsonLines(ended).at(-1) as Record<string, number>
    expect({ sum: sent! + pending!, uncertain }).toEqual({ sum: 40, uncertain: 0 })
    expect(sent).toBeGreaterThan(0)
    expect(pending).toBeGreaterThan(0)
    expect(await leasesOf(cli.ferry.pool)).toEqual([])
    expect((await cli.ferryRun('imports resume 1 --wait')).code).toBe(0)
    expect(subscribed(cli)).toBe(40)
    expect(await cli.query('select count(*)::int as calls from ferry.platform_calls')).toEqual([
      { calls: 20 },
    ])
  })

  test('asks for no worker, for it is about to do the work', async () => {
    await using cli = await open()
    const client = await cli.ferry.pool.connect()
    try {
      await client.query('begin; lock table ferry.leases in exclusive mode')
      await using ferry = cli.ferryStart(`import ${people(3)} ${PAGE} --yes --wait`)
      await ferry.printed('import 1 queued: 0 of 3 rows')
      await client.query('rollback')
      const { code, stdout } = await ferry.ended
      expect(code).toBe(0)
      expect(stdout).not.toContain('No worker')
    } finally {
      client.release()
    }
  })

  test('watches while another worker is processing it, and continues once it can', async () => {
    await using cli = await open()
    await holdLease(cli.ferry.pool, `import:default:${SANDBOX_PAGE_ID}:email`, 'somebody else')
    await using ferry = cli.ferryStart(`import ${people(3)} ${PAGE} --yes --wait`)
    await ferry.printed('import 1 queued: 0 of 3 rows')
    expect(subscribed(cli)).toBe(0)
    await removeLeases(cli.ferry.pool)
    expect(await ferry.ended).toMatchObject({ code: 0 })
    expect(subscribed(cli)).toBe(3)
  })
})

describe('ferry import --yes', () => {
  test('queues it and returns; a worker does it, and watch ends as it does', async () => {
    await using cli = await open()
    const queued = await cli.ferryRun(`import ${people(3, 'nobody,true,,en-US')} ${PAGE} --yes --json`)
    expect(queued.code).toBe(0)
    expect(jsonLines(queued).at(-1)).toMatchObject({ import: '1', status: 'queued', pending: 3 })
    await using worker = cli.ferryStart('worker')
    const watched = await cli.ferryRun('imports watch 1 --json')
    expect(watched.code).toBe(3)
    expect(jsonLines(watched).at(-1)).toMatchObject({ status: 'completed', sent: 3, rejected: 1 })
    worker.child.kill('SIGTERM')
    expect((await worker.ended).code).toBe(0)
  })

  test('says how to follow it', async () => {
    await using cli = await open()
    const { stdout } = await cli.ferryRun(`import ${people(3)} ${PAGE} --yes`)
    expect(stdout).toContain(
      '\nImport 1 is queued for the workers. `ferry imports watch 1` shows its progress.\n',
    )
  })

  test('with nobody to send is over at once', async () => {
    await using cli = await open()
    const ended = await cli.ferryRun(`import ${file([HEADER, 'nobody,true,,en-US'])} ${PAGE} --yes --json`)
    expect(ended.code).toBe(3)
    expect(jsonLines(ended).at(-1)).toMatchObject({ status: 'completed', rejected: 1, requests: 0 })
  })
})
