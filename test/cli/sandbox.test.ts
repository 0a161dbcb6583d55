import { fetch } from 'undici'
import { expect, test } from 'vitest'
import { waitFor } from '#test/support/wait-for.ts'
import { jsonLines, type RunningFerry, runFerryHere, startFerry } from './run-ferry.ts'

const KEY = 'sandbox-key-with-every-permission'

async function baseUrlOf(sandbox: RunningFerry): Promise<string> {
  await sandbox.printed('baseUrl')
  return String(jsonLines(sandbox.output)[0]?.baseUrl)
}

async function listRules(baseUrl: string) {
  const response = await fetch(`${baseUrl}/monit/rule/list/basic?app_key=${KEY}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  })
  return {
    status: response.status,
    text: JSON.stringify(((await response.json()) as { data: unknown }).data),
  }
}

test('the sandbox minds no settings: it needs none', async () => {
  await using sandbox = startFerry(['sandbox', '--json'], {
    FERRY_APP_KEY: 'left over',
    FERRY_BASE_URL: '',
    FERRY_POLL_EVERY: 'nonsense',
  })
  expect(await listRules(await baseUrlOf(sandbox))).toMatchObject({ status: 200 })
})

test('calls go wrong as the command line says', async () => {
  await using sandbox = startFerry([
    'sandbox',
    '--json',
    '--fault',
    'rules:every=2:503',
    '--fault',
    'rules:nth=3:401',
  ])
  const baseUrl = await baseUrlOf(sandbox)
  const statuses = []
  for (let n = 1; n <= 4; n += 1) statuses.push((await listRules(baseUrl)).status)
  expect(statuses).toEqual([200, 503, 401, 503])
})

test('a fault that cannot be read is a wrong usage, in words', async () => {
  const { code, stderr } = await runFerryHere(['sandbox', '--fault', 'imports:nth=1:500'])
  expect(code).toBe(2)
  expect(stderr).toBe(
    'ferry: --fault imports:nth=1:500: There is no operation imports. Write import, rules, servers, any.\n',
  )
})

test('something changes every so often', async () => {
  await using sandbox = startFerry(['sandbox', '--json', '--change-every', '100ms'])
  const baseUrl = await baseUrlOf(sandbox)
  const before = (await listRules(baseUrl)).text
  await waitFor(async () => (await listRules(baseUrl)).text !== before, {
    what: 'a change',
  })
})

test.for([
  ['--change-every', '0s', 'Write more than 0, such as 30s, or leave the option out.'],
  ['--key', '', 'Write an app_key without white space.'],
  ['--key', 'two words', 'Write an app_key without white space.'],
] as const)('%s %j is a wrong usage, in words', async ([option, value, words]) => {
  const { code, stdout, stderr } = await runFerryHere(['sandbox', option, value])
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain(words)
})

test('the JSON has the key that is in the source, and never one that was given', async () => {
  await using own = startFerry(['sandbox', '--json'])
  await own.printed('baseUrl')
  expect(jsonLines(own.output)).toEqual([
    { baseUrl: expect.stringMatching(/^http:/), appKey: KEY, rules: 40, servers: 25 },
  ])
  await using other = startFerry(['sandbox', '--json', '--key', 'canary'])
  await other.printed('baseUrl')
  expect(jsonLines(other.output)).toMatchObject([{ appKey: null }])
  expect(other.output.stdout + other.output.stderr).not.toContain('canary')
})

test('without --json it says in words what it is, and how to use it', async () => {
  await using sandbox = startFerry(['sandbox', '--rules', '1', '--servers', '2'])
  await sandbox.printed('Ctrl-C')
  const [first, second] = sandbox.output.stdout.split('\n')
  const [, baseUrl] = /listens at (\S+): 1 alert rule, 2 MCP servers, all made up\.$/.exec(first ?? '') ?? []
  expect(second).toBe(`FERRY_BASE_URL=${baseUrl} FERRY_APP_KEY=${KEY}`)
})
