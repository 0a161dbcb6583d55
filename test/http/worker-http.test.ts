import { Agent } from 'node:http'
import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { openCli } from '#test/cli/open-cli.ts'
import { jsonLines } from '#test/cli/run-ferry.ts'
import { ask, openTestHttp } from './http-harness.ts'
import { readScrape } from './scrape.ts'

test('a worker answers while it drains, says that it stops, and no connection holds its exit', async () => {
  await using cli = await openCli()
  const called = Promise.withResolvers<void>()
  cli.sandbox.state.onCall(() => {
    called.resolve()
    return { kind: 'late', ms: 1_500 }
  })
  await using worker = cli.ferryStart('worker --json', { FERRY_HTTP_PORT: '0', FERRY_POLL_EVERY: '1s' })
  await worker.printed('"schedules"')
  const [ready] = jsonLines(worker.output)
  const address = String(ready?.http)
  expect(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
  const agent = new Agent({ keepAlive: true })
  const status = async (path: string) => (await ask(address + path, { agent })).status
  await expect.poll(() => status('/readyz')).toBe(200)
  const running = readScrape((await ask(`${address}/metrics`, { agent })).text)
  expect(running.value('ferry_database_up')).toBe(1)
  expect(running.value('ferry_queue_waiting', { queue: 'import' })).toBe(0)
  expect(running.value('ferry_inventory_freshness_target_seconds', { inventory: 'alert-rules' })).toBe(3)

  await called.promise
  worker.child.kill('SIGTERM')
  await worker.printed('finishing what is under way')
  expect(await status('/livez')).toBe(200)
  expect(await status('/readyz')).toBe(503)
  const scrape = readScrape((await ask(`${address}/metrics`, { agent })).text)
  expect(scrape.value('ferry_process_start_time_seconds')).toBeGreaterThan(0)
  const askedAtMs = performance.now()
  expect(await worker.ended).toMatchObject({ code: 0, signal: null })
  expect(performance.now() - askedAtMs).toBeLessThan(20_000)
  agent.destroy()
})

test('a port that was set and is taken ends a worker at once, with a plain sentence', async () => {
  await using cli = await openCli()
  await using other = await openTestHttp()
  const { port } = new URL(other.address)
  const { code, stdout, stderr } = await cli.ferryRun('worker', { FERRY_HTTP_PORT: port })
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toBe(
    `ferry: HTTP cannot listen on 127.0.0.1:${port}: another program uses this port.\n` +
      'Set FERRY_HTTP_PORT to a free port (0 takes any), or FERRY_HTTP_HOST to an address of this machine.\n',
  )
})

test('where the usual port is taken and none was set, a worker says at which free one it is', async () => {
  await using cli = await openCli()
  await using other = createServer()
  const listens = () =>
    new Promise(resolve => {
      other.once('error', () => resolve(false)).listen(3377, '127.0.0.1', () => resolve(true))
    })
  await expect.poll(listens).toBe(true) // another test may have it for a moment
  const env = { FERRY_CONSOLE: 'on', FERRY_CONSOLE_TOKEN: 'operate-12345678901234567890' }
  await using worker = cli.ferryStart('worker --json', env)
  await worker.printed('"schedules"')
  const [ready] = jsonLines(worker.output)
  expect(ready?.http).not.toContain(':3377')
  expect((await ask(`${ready?.http}/livez`)).status).toBe(200)
  const first = { account: 'default', inventory: 'alert-rules', status: 'succeeded' }
  const runs = async () =>
    readScrape((await ask(`${ready?.http}/metrics`)).text).value('ferry_runs_total', first)
  await expect.poll(runs).toBeGreaterThan(0)
  const { value } = readScrape((await ask(`${ready?.http}/metrics`)).text)
  const call = { account: 'default', operation: 'list-alert-rules' }
  expect(value('ferry_calls_total', { ...call, status: '200', code: 'none' })).toBeGreaterThan(0)
  expect(value('ferry_call_duration_seconds_count', { operation: call.operation })).toBeGreaterThan(0)
  expect(value('ferry_limit_wait_seconds_total', call)).toBeGreaterThan(0)
  expect(worker.output.stderr).toContain(
    `Port 3377 is taken, so HTTP is at ${ready?.http}. Set FERRY_HTTP_PORT to choose a port.\n`,
  )

  await using free = cli.ferryStart('worker --json', { ...env, FERRY_HTTP_PORT: '0' })
  await free.printed('"schedules"')
  expect(free.output.stderr).not.toContain('taken')
})

test('a worker has the console if a setting says so, with the token of the setting', async () => {
  await using cli = await openCli()
  const env = { FERRY_HTTP_PORT: '0', FERRY_CONSOLE_TOKEN: 'operate-12345678901234567890' }
  await using without = cli.ferryStart('worker --json', env)
  await without.printed('"schedules"')
  const [quiet] = jsonLines(without.output)
  expect(quiet).toMatchObject({ console: null })
  expect((await ask(`${quiet?.http}/`)).status).toBe(404)

  await using worker = cli.ferryStart('worker --json', { ...env, FERRY_CONSOLE: 'on' })
  await worker.printed('"schedules"')
  const [ready] = jsonLines(worker.output)
  expect(ready?.console).toBe(`${ready?.http}/`)
  expect((await ask(String(ready?.console))).status).toBe(401)
  const headers = { authorization: 'Bearer operate-12345678901234567890' }
  expect((await ask(String(ready?.console), { headers })).text).toContain('<h1>Now</h1>')
})

test('the console of a worker shows its schedules, and follows the settings of the worker', async () => {
  await using cli = await openCli({ rules: 0, servers: 0 })
  cli.sandbox.state.addRule({ id: 7n, name: 'Checkout is slow' })
  await cli.sync()
  await cli.query(`insert into ferry.events (kind, state, account, subject, data, at)
    values ('import.completed', 'raised', 'default', '1', '{"import":"1"}', now())`)
  await using worker = cli.ferryStart('worker --json', {
    FERRY_HTTP_PORT: '0',
    FERRY_CONSOLE: 'on',
    FERRY_CONSOLE_TOKEN: 'operate-12345678901234567890',
    FERRY_POLL_EVERY: '5h',
    FERRY_TIMEZONE: 'Asia/Kolkata',
    FERRY_PLATFORM_URL: 'https://app.example.com/rule/{id}',
    FERRY_WEBHOOK_URL: 'http://127.0.0.1:9/',
    FERRY_WEBHOOK_FORMAT: 'slack',
  })
  await worker.printed('"schedules"')
  const [ready] = jsonLines(worker.output)
  const headers = { authorization: 'Bearer operate-12345678901234567890' }
  const page = async (path: string) => (await ask(`${ready?.http}${path}`, { headers })).text
  const schedules = await page('/ledger/schedules')
  expect(schedules).toContain('poll-alert-rules')
  expect(schedules).toContain('every 5 h')
  const rule = await page('/rules/default/7')
  expect(rule).toContain('href="https://app.example.com/rule/7"')
  expect(rule).toContain('Asia/Kolkata')
  expect(await page('/ledger/events')).not.toContain('No receiver is set')
  expect((await ask(`${ready?.http}/metrics`)).text).toContain('schedule="poll-alert-rules"')
})

test('a worker without a token has no console, and says how to give it one', async () => {
  await using cli = await openCli()
  const { code, stdout, stderr } = await cli.ferryRun('worker', { FERRY_HTTP_PORT: '0', FERRY_CONSOLE: 'on' })
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toMatch(
    /^ferry: FERRY_CONSOLE: the console of a worker needs a token\. Set FERRY_CONSOLE_TOKEN/,
  )
})
