import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { Client } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { openTestDatabase } from '#test/support/database.ts'
import { openCheckedSandbox } from '#test/support/sandbox.ts'
import { waitFor } from '#test/support/wait-for.ts'
import { blocksOf, pathOf, readPage, sectionOf, shellCommandsOf } from './pages.ts'

/* The README's way from nothing to an import, each line run by a shell as it stands there. */

const README = readPage('README.md')

/** `npm ci` is run by `.ci/run`, the demo by test/flows/demo.test.ts: it must be what the README's line runs. */
test('the two commands are the demo and the tests', () => {
  expect(shellCommandsOf(sectionOf(README, 'Two commands'))).toEqual([
    'npm ci && npm run demo',
    'npm ci && npm test',
  ])
  expect(JSON.parse(readPage('package.json')).scripts).toMatchObject({
    demo: 'node src/cli/ferry.ts demo',
    start: expect.stringMatching(/^node .*src\/cli\/ferry\.ts up$/),
  })
})

test('an account with two settings, then the commands and the import, as the README shows them', {
  timeout: 90_000,
}, async () => {
  await using database = await openTestDatabase()
  await using sandbox = await openCheckedSandbox({ rules: 5, servers: 2 })
  const home = await scratchDirectory()
  await writeFile(join(home, 'app_key'), sandbox.appKey)
  await symlink(pathOf('bin/ferry'), join(home, 'ferry'))
  // The embedded Postgres, which the README's reader has, is started by test/cli/up.test.ts.
  const env = { DATABASE_URL: database.url, FERRY_DATA_DIR: home }
  const account = {
    FERRY_BASE_URL: sandbox.baseUrl,
    FERRY_APP_KEY_FILE: join(home, 'app_key'),
  }

  const [start = ''] = shellCommandsOf(sectionOf(README, 'Start with your own account'))
  await using up = startShell(
    start.replace('https://api.example.com', sandbox.baseUrl),
    home,
    env,
    pathOf('.'),
  )
  await waitFor(() => up.printed().includes('Ferry is up'), { what: 'ferry up', timeoutMs: 40_000 })
  await waitFor(() => up.printed().match(/First sync of .*: succeeded/g)?.length === 2, {
    what: 'the first syncs',
    timeoutMs: 40_000,
  })

  for (const command of shellCommandsOf(sectionOf(README, 'The `ferry` command'))) {
    expect(await runShell(command, home, { ...env, ...account }), command).toMatchObject({ code: 0 })
  }

  const importing = sectionOf(README, 'Import subscribers')
  await writeFile(join(home, 'people.csv'), blocksOf(importing, 'csv')[0] ?? '')
  const [dryRun = '', confirmed = '', list = '', show = ''] = shellCommandsOf(importing)
  const dry = await runShell(dryRun, home, { ...env, ...account })
  expect(dry).toMatchObject({ code: 0, stdout: expect.stringMatching(/3 rows/) })
  expect(await runShell(list, home, { ...env, ...account })).toMatchObject({
    stdout: expect.not.stringContaining('people.csv'),
  })
  // What a person answers to the question.
  expect(await runShell(`${confirmed} --yes`, home, { ...env, ...account })).toMatchObject({ code: 0 })
  await waitFor(
    async () => (await runShell(show, home, { ...env, ...account })).stdout.includes('completed'),
    { what: 'the import to end', timeoutMs: 40_000 },
  )
  expect(await runShell(list, home, { ...env, ...account })).toMatchObject({
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

type Env = Readonly<Record<string, string>>

function spawnShell(line: string, home: string, env: Env, cwd: string): ChildProcess {
  const path = [home, process.env.PATH].join(delimiter)
  return spawn('bash', ['-c', line], {
    cwd,
    env: { PATH: path, HOME: home, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
}

/** Runs a line to its end, in the scratch directory. */
async function runShell(line: string, home: string, env: Env) {
  const child = spawnShell(line, home, env, home)
  const output = { stdout: '', stderr: '' }
  child.stdout?.setEncoding('utf8').on('data', text => {
    output.stdout += text
  })
  child.stderr?.setEncoding('utf8').on('data', text => {
    output.stderr += text
  })
  const [code] = await once(child, 'close')
  return { code, ...output }
}

/** Starts a line; `interrupt` does what Ctrl-C does in a terminal: every process of the line gets SIGINT. */
function startShell(line: string, home: string, env: Env, cwd: string) {
  const child = spawnShell(line, home, env, cwd)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', text => {
      output += text
    })
  }
  let isOver = false
  const ended = once(child, 'close').then(() => {
    isOver = true
  })
  const signal = (name: NodeJS.Signals) => {
    if (!isOver && child.pid) process.kill(-child.pid, name)
  }
  return {
    printed: () => output,
    ended,
    interrupt: () => signal('SIGINT'),
    async [Symbol.asyncDispose]() {
      signal('SIGKILL')
      await ended
    },
  }
}
