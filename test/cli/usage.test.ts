import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { jsonLines, runFerryHere, startFerry } from './run-ferry.ts'

/** A directory in which no `ferry up` runs. */
const nowhere = { FERRY_DATA_DIR: join(tmpdir(), `ferry-cli-nowhere-${process.pid}`) }

describe('ferry --help', () => {
  test('names every command and exit code, and exits 0', async () => {
    const { code, stdout, stderr } = await runFerryHere(['--help'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    for (const word of [
      'up',
      'worker',
      'migrate',
      'doctor',
      'sandbox',
      'demo',
      'sync',
      'runs',
      'snapshots',
      'changes',
      'rules',
      'servers',
      'import',
      'imports',
      'schedules',
      'completion',
    ]) {
      expect(stdout).toMatch(new RegExp(`^  ${word}\\b`, 'm'))
    }
    expect(stdout).toContain('4 refused by the platform')
  })

  test('loads no package but those of the command line itself', async () => {
    const hook = `import { registerHooks } from 'node:module'
      registerHooks({ load(url, context, next) { process.stderr.write(url + '\\n'); return next(url, context) } })`
    const preload = `data:text/javascript,${encodeURIComponent(hook)}`
    await using ferry = startFerry(['--help'], {}, ['--import', preload])
    const { stderr } = await ferry.ended
    const packages = [...stderr.matchAll(/node_modules\/((?:@[^/]+\/)?[^/]+)/g)].map(match => match[1])
    expect(packages).toContain('commander')
    for (const heavy of [
      '@bomb.sh/tab',
      'pg',
      'zod',
      'drizzle-orm',
      'undici',
      'bullmq',
      'ioredis',
      'fastify',
      'pino',
      'cron-parser',
    ]) {
      expect(packages).not.toContain(heavy)
    }
  })
})

test.each([
  ['runs show', 'runs show'],
  ['runs', 'runs'],
  ['sync all', 'sync all'],
  ['runs shwo', 'runs shwo'],
  // Whatever is written, nothing is run.
  ['-- freshness', 'freshness'],
  ['runs list --', 'runs list'],
])('ferry help %s is what --help says of %s', async (text, command) => {
  const asked = await runFerryHere(['help', ...text.split(' ')])
  expect(asked).toEqual(await runFerryHere([...command.split(' '), '--help']))
  expect(asked).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`Usage: ferry ${command.split(' ')[0]}`),
  })
})

describe('wrong usage exits 2 and says what would be right', () => {
  test.each([
    [['syn'], "unknown command 'syn'\n(Did you mean sync?)"],
    [['help', 'syn'], "unknown command 'syn'\n(Did you mean sync?)"],
    [['sync', 'all', '--jsn'], "unknown option '--jsn'\n(Did you mean --json?)"],
    [['sync', 'everything'], 'Allowed choices are alert-rules, mcp-servers, all.'],
    [['sync'], "missing required argument 'inventory'"],
    [['sync', 'all', '--folder', '18446744073709551616'], 'Write a folder id, 0 to 18446744073709551615.'],
    [
      ['sync', 'all', '--plan', '--accept-removals'],
      "'--plan' cannot be used with option '--accept-removals'",
    ],
    [['runs', 'shw', '1'], "unknown command 'shw'\n(Did you mean show?)"],
    [['runs', 'show', 'latest'], 'Write a number, as the list shows it.'],
    [['import', 'f.csv'], "required option '--page <id>' not specified"],
    [
      ['import', 'f.csv', '--page', '18446744073709551616'],
      "Write the page's id, 0 to 18446744073709551615.",
    ],
    [['import', 'f.csv', '--page', '1', '--map', 'Email'], 'Write a field and the column that holds it'],
    [['import', 'f.csv', '--page', '1', '--batch', '0'], 'Write a whole number from 1 to '],
    [['import', 'f.csv', '--page', '1', '--from', 'other'], 'Allowed choices are statuspage, instatus,'],
    [['imports', 'resolve', '1'], "required option '--as <what>' not specified"],
    [['imports', 'resolve', '1', '--as', 'lost'], 'Allowed choices are sent, resend.'],
    [['imports', 'show', 'latest'], 'Write a number, as the list shows it.'],
    [['snapshots', 'diff', '1'], 'one snapshot has nothing to be compared with'],
    [['sandbox', '--latency', '5'], 'Write a number and its unit'],
    [['sandbox', '--latency', '597h'], 'Write 596h or less.'],
    [['sandbox', '--port', '70000'], 'Write a whole number from 0 to 65535.'],
    [['sandbox', '--port', '65536'], 'Write a whole number from 0 to 65535.'],
    [['sandbox', '--port=-1'], 'Write a whole number from 0 to 65535.'],
    [['sandbox', '--port', '0x50'], 'Write a whole number from 0 to 65535.'],
    [['sandbox', '--rules', '9999999'], 'Write a whole number from 0 to 1000000.'],
    [['sandbox', '--servers', '10001'], 'Write a whole number from 0 to 10000.'],
    [[], 'Usage: ferry'],
  ])('%j', async (args, words) => {
    const { code, stdout, stderr } = await runFerryHere(args, nowhere)
    expect(stderr).toContain(words)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  })
})

describe('settings', () => {
  test('that are wrong are named all at once, and exit 2', async () => {
    const env = {
      ...nowhere,
      FERRY_POLL_EVERY: '60',
      FERRY_TIMEZONE: 'CST',
      FERRY_FOLDER: '1',
      FERRY_APP_KEY: 'k',
    }
    const { code, stdout, stderr } = await runFerryHere(['sync', 'all', '--json'], env)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr.split('\n')).toEqual([
      'ferry: 4 settings are wrong:',
      expect.stringMatching(/^ {2}FERRY_POLL_EVERY: "60" is not a duration; write /),
      expect.stringMatching(/^ {2}FERRY_TIMEZONE: "CST" is not an IANA time zone; write /),
      expect.stringMatching(/^ {2}FERRY_BASE_URL: is not set, but an app_key is; set it /),
      '  FERRY_FOLDER: is not a setting; did you mean FERRY_FOLDERS?',
      '',
    ])
  })

  test.each([
    ['sync', 'all'],
    ['snapshots', 'take'],
    ['runs', 'approve', '1'],
    ['schedules', 'list'],
    ['import', 'people.csv', '--page', '1', '--yes'],
    ['imports', 'resume', '1', '--wait'],
    ['worker'],
  ])('without an account, `ferry %s %s` exits 2 and says how to configure one', async (...args) => {
    const { code, stderr } = await runFerryHere(args.filter(Boolean), nowhere)
    expect(code).toBe(2)
    expect(stderr).toContain('FERRY_BASE_URL')
    expect(stderr).toContain('FERRY_APP_KEY')
  })
})

describe('a data directory that cannot be one', () => {
  test.each([
    ['runs list', '/dev/null/x'],
    ['doctor', '/dev/null/x'],
    ['up', '/dev/null/x'],
    ['up', '/proc/x'],
    ['runs list', '/proc'],
    ['demo', '/proc'],
    ['up', '/proc'],
  ])('for `ferry %s` at %s is a wrong setting, and exits 2', async (args, FERRY_DATA_DIR) => {
    const { code, stdout, stderr } = await runFerryHere(args.split(' '), { FERRY_DATA_DIR })
    expect(code).toBe(2)
    expect(stdout + stderr).toContain('FERRY_DATA_DIR')
    expect(stderr).not.toContain('is unexpected')
  })
})

describe('a Postgres out of reach', () => {
  const env = { ...nowhere, FERRY_BASE_URL: 'https://127.0.0.1:9', FERRY_APP_KEY: 'k' }

  test('is named without its password, and exits 1 after a short while', async () => {
    const url = 'postgres://ferry:hunter2@127.0.0.1:9/inventory'
    const { code, stderr } = await runFerryHere(['runs', 'list'], { ...env, DATABASE_URL: url })
    expect(code).toBe(1)
    expect(stderr).toContain('Postgres at 127.0.0.1:9/inventory (DATABASE_URL) does not answer')
    expect(stderr).toContain('DATABASE_URL')
    expect(stderr).not.toContain('hunter2')
  })

  test('is waited for by a worker, which SIGTERM ends with exit 0', async () => {
    const url = 'postgres://ferry:hunter2@127.0.0.1:9/inventory'
    await using ferry = startFerry(['worker'], { ...env, DATABASE_URL: url, FERRY_LOG_LEVEL: 'info' })
    await ferry.printed('Waiting for Postgres at 127.0.0.1:9/inventory')
    ferry.child.kill('SIGTERM')
    expect(await ferry.ended).toMatchObject({ code: 0, signal: null })
  })
})

test('a reader that stops reading is no failure', async () => {
  await using ferry = startFerry(['sync', '--help'])
  ferry.child.stdout?.destroy()
  expect(await ferry.ended).toMatchObject({ code: 0, stderr: '' })
})

test('a port that is taken is named with what to do, without a stack trace', async () => {
  await using first = startFerry(['sandbox', '--json'])
  await first.printed('baseUrl')
  const [{ baseUrl } = {}] = jsonLines(first.output)
  const { code, stderr } = await runFerryHere(['sandbox', '--port', new URL(String(baseUrl)).port])
  expect(code).toBe(1)
  expect(stderr).toMatch(/EADDRINUSE.*\n.*choose another port\.\n$/)
  first.child.kill('SIGTERM')
  expect((await first.ended).code).toBe(0)
})
