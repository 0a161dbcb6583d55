import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { Client } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { openTestDatabase } from '#test/support/database.ts'
import { openCheckedSandbox } from '#test/support/sandbox.ts'
import { waitFor } from '#test/support/wait-for.ts'
import { blocksOf, pathOf, readPage, sectionOf, shellCommandsOf } from './pages.ts'
import { type Ended, runShell, startShell } from './shell.ts'

/* The README's way from nothing to an import, each line run by a shell as it stands there. */

const README = readPage('README.md')

/** `npm ci` is run by `.ci/run`, the demo by test/flows/demo.test.ts: it must be what the README's line runs. */
test('the two commands are the demo and the tests', () => {
  expect(shellCommandsOf(sectionOf(README, 'Two commands'))).toEqual([
    'npm ci && npm run demo',
    'npm ci && npm test',
  ])
  expect(JSON.parse(readPage('package.json')).scripts).toMatchObject({
    demo: 'node --disable-sigusr1 src/cli/ferry.ts demo',
    start: expect.stringMatching(/^node .*src\/cli\/ferry\.ts up$/),
  })
})

test('an account with two settings, then the commands and the import, as the README shows them', async () => {
  await using database = await openTestDatabase()
  await using sandbox = await openCheckedSandbox({ rules: 5, servers: 2 })
  const home = await scratchDirectory()
  await writeFile(join(home, 'app_key'), sandbox.appKey)
  await symlink(pathOf('bin/ferry'), join(home, 'ferry'))
  // The embedded Postgres, which the README's reader has, is started by test/cli/up.test.ts.
  const env = {
    PATH: [home, process.env.PATH].join(delimiter),
    HOME: home,
    DATABASE_URL: database.url,
    FERRY_DATA_DIR: home,
  }
  const account = {
    FERRY_BASE_URL: sandbox.baseUrl,
    FERRY_APP_KEY_FILE: join(home, 'app_key'),
  }
  const run = (line: string): Promise<Ended> => runShell(line, { cwd: home, env: { ...env, ...account } })

  const [start = '', ...more] = shellCommandsOf(sectionOf(README, 'Start with your own account'))
  expect(more).toEqual([])
  await using up = startShell(start.replace('https://api.example.com', sandbox.baseUrl), {
    cwd: pathOf('.'),
    env,
  })
  await waitFor(() => up.printed().includes('Ferry is up'), { what: 'ferry up' })
  await waitFor(() => up.printed().match(/First sync since the start, .*: succeeded/g)?.length === 2, {
    what: 'the first syncs',
  })

  for (const command of shellCommandsOf(sectionOf(README, 'The `ferry` command'))) {
    expect(await run(command), command).toMatchObject({ code: 0 })
  }

  const importing = sectionOf(README, 'Import subscribers')
  await writeFile(join(home, 'people.csv'), blocksOf(importing, 'csv')[0] ?? '')
  const [dryRun = '', confirmed = '', list = '', show = '', ...others] = shellCommandsOf(importing)
  expect(others).toEqual([])
  const dry = await run(dryRun)
  expect(dry).toMatchObject({ code: 0, stdout: expect.stringMatching(/3 rows/) })
  expect(await run(list)).toMatchObject({
    stdout: expect.not.stringContaining('people.csv'),
  })
  // What a person answers to the question.
  expect(await run(`${confirmed} --yes`)).toMatchObject({ code: 0 })
  await waitFor(async () => (await run(show)).stdout.includes('completed'), {
    what: 'the import to end',
  })
  expect(await run(list)).toMatchObject({
    stdout: expect.stringMatching(/completed +3 +3 +0/),
  })
  expect(sandbox.state.subscribers.count(5_750_613_685_214n, 'email')).toBe(3)

  const client = new Client({ connectionString: database.url })
  await client.connect()
  for (const query of blocksOf(README, 'sql')) await client.query(query)
  await client.end()

  up.interrupt()
  // npm itself may end by the signal; what counts is that nothing of it stays: the database looks for open connections.
  await up.ended
})

async function scratchDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'ferry-quick-start-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  return directory
}
