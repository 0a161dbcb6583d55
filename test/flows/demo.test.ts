import { existsSync, mkdtempSync, readdirSync } from 'node:fs'
import { chmod, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { openEmbeddedPostgres } from '#src/embedded/postgres.ts'
import { findPostmaster } from '#src/embedded/server.ts'
import { jsonLines, runFerry } from '#test/cli/run-ferry.ts'

/** `ferry demo` from nothing: what a newcomer sees first. */
test('the demo brings everything up, shows it, leaves nothing running, and can be run again', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'ferry-demo-test-'))
  await chmod(dataDir, 0o755)
  onTestFinished(() => rm(dataDir, { recursive: true }))
  // Settings of a real account, which a demo must neither use nor disturb.
  const env = {
    FERRY_DATA_DIR: dataDir,
    FERRY_BASE_URL: 'https://api.example.com',
    FERRY_APP_KEY: 'real',
    FERRY_FOLDERS: '7',
  }

  const first = await runFerry(['demo'], env)
  expect(first).toMatchObject({ code: 0, stderr: '' })
  expect(first.stdout.split('\n')[0]).toContain('SANDBOX')
  const blocks = first.stdout.split('\n\n')
  for (const heading of [
    'Runs',
    'Alert rules as they are now',
    'What changed in the alert rules, and who did it',
    'Rules that are firing now',
    'MCP servers as they are now',
    'From the first night to the second',
    "Subscribers of another product's status page",
  ]) {
    const block = blocks.find(one => new RegExp(`^${heading}`).test(one.trim()))
    expect(block?.trim().split('\n').length, heading).toBeGreaterThan(2)
  }
  expect(first.stdout).toContain(
    '\nIt adds up: 2,997 read = 2,880 sent + 12 rejected + 60 duplicate + 45 suppressed',
  )
  expect(first.stdout).toMatch(/id\W+name\W+folder_id\W+enabled\W+cron_pattern\W+timezone\W+triggered/)
  expect(first.stdout).toMatch(/^changed .* → /m)
  const end = first.stdout.slice(first.stdout.indexOf('Checked:')).trimEnd().split('\n')
  const there = expect.stringMatching(/^ {2}FERRY_DATA_DIR=\S+ \S+ (runs list|imports show \d+|up .*psql\))$/)
  expect(end).toEqual([
    'Checked: Postgres holds exactly what the platform holds, 40 alert rules and 25 MCP',
    'servers, and the history of what changed; and each of 2,880 people was subscribed exactly once, and nobody else was.',
    expect.stringMatching(/^It took \d+.* s; nothing is left running\.$/),
    '',
    'The data stays. To look at it:',
    there,
    there,
    there,
  ])
  expect(await findPostmaster(join(dataDir, 'demo', 'postgres'))).toBeUndefined()
  expect(readdirSync(dataDir)).toEqual(['demo'])

  const again = await runFerry(['demo', '--json'], env)
  expect(again.code).toBe(0)
  expect(jsonLines(again).map(line => line.status)).toEqual([...Array(4).fill('succeeded'), 'completed'])
  const kept = await runFerry(['runs', 'list', '--json'], { FERRY_DATA_DIR: join(dataDir, 'demo') })
  expect(jsonLines(kept)).toHaveLength(4)
  expect(existsSync(join(dataDir, 'demo', 'sandbox.json'))).toBe(false)

  // Whoever looks at it keeps it.
  await using postgres = await openEmbeddedPostgres({
    dataDir: join(dataDir, 'demo'),
    log: pino({ level: 'silent' }),
  })
  const client = new Client(postgres.url)
  await client.connect()
  try {
    expect(await runFerry(['demo'], env)).toMatchObject({
      code: 1,
      stderr: "ferry: another program is connected to the demo's database; stop it first\n",
    })
    expect((await client.query('select from ferry.sync_runs')).rowCount).toBe(4)
  } finally {
    await client.end()
  }
})
