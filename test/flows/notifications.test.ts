import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { SANDBOX_PAGE_ID } from '#src/sandbox/state.ts'
import { type Cli, openCli } from '#test/cli/open-cli.ts'
import { openReceiver, SECRET, status } from '#test/notify/receiver.ts'
import { fileHolding } from '#test/support/settings.ts'
import { waitFor } from '#test/support/wait-for.ts'

const CANARY = 'kanarie7f3a9c'
const PERSON = 'zeisig4b8d'

/** Imports people; the platform refuses the call in words that name a person and the key. */
async function pauseAnImport(cli: Cli): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'ferry-notify-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const path = join(directory, `people.csv`)
  writeFileSync(path, ['recipient', `${PERSON}1@example.com`, `${PERSON}2@example.com`].join('\n'))
  const message = `${PERSON}1@example.com may not be imported with ${CANARY}`
  cli.sandbox.state.inject({ kind: 'error', code: 'NoLicense', message })
  await cli.ferryRun(`import ${path} --page ${SANDBOX_PAGE_ID} --all --default-locale en-US --yes --wait`)
  cli.sandbox.state.faults.clear()
}

test('a worker that is killed while it tells of a pause is followed by one that tells it under the same id; no message, log or table has the person, the key or the address', async () => {
  await using cli = await openCli({ appKey: CANARY, rules: 2, servers: 2 })
  await using receiver = await openReceiver()
  const env = {
    FERRY_WEBHOOK_URL: `${receiver.url}&token=${CANARY}`,
    FERRY_WEBHOOK_SECRET: SECRET,
    FERRY_LOG_LEVEL: 'trace',
  }
  receiver.answer = () => {}
  await cli.query(`insert into ferry.receivers (name, after_event) values ('webhook', 0)`)
  await pauseAnImport(cli)
  await using killed = cli.ferryStart('worker', env)
  await waitFor(() => receiver.received.length > 0, { what: 'a message' })
  killed.child.kill('SIGKILL')
  const { stdout, stderr } = await killed.ended
  // Otherwise it takes half a minute until it expires.
  await cli.query(`delete from ferry.leases where name = 'notify'`)

  receiver.answer = status(200)
  await using next = cli.ferryStart('worker', env)
  const delivered = () => cli.query('select from ferry.deliveries where delivered_at is not null')
  await waitFor(async () => (await delivered()).length > 0, { what: 'the message' })
  next.child.kill('SIGTERM')
  const ended = await next.ended
  expect(ended.code).toBe(0)
  const messages = receiver.messages()
  expect(messages).toMatchObject([{ type: 'import.paused' }, { type: 'import.paused' }])
  expect(new Set(messages.map(({ id }) => id)).size).toBe(1)
  expect(messages[0]?.data).toMatchObject({ import: '1', code: 'NoLicense', state: 'raised' })

  const stored = await cli.query(
    'select e::text as row from ferry.events e union all select d::text from ferry.deliveries d',
  )
  const all = JSON.stringify([receiver.received.map(({ body }) => body), stored, stdout, stderr, ended])
  expect(all).toContain('NoLicense')
  expect(all).not.toContain(PERSON)
  expect(all).not.toContain(CANARY)
  expect(all).not.toContain(SECRET.slice(6))
})

test('a worker that is killed between a run and its message loses none: the next one tells each receiver once', async () => {
  await using cli = await openCli({ rules: 3, servers: 1 })
  await using first = await openReceiver()
  await using second = await openReceiver()
  await cli.query(`insert into ferry.receivers (name, after_event) values ('first', 0), ('second', 0)`)
  const path = fileHolding(
    JSON.stringify({
      receivers: [first, second].map(({ url }, n) => ({
        name: n === 0 ? 'first' : 'second',
        url,
        events: ['rule.*'],
      })),
    }),
  )
  const env = { FERRY_RECEIVERS_FILE: path }
  await cli.ferryRun('sync alert-rules')
  first.answer = () => {}
  const [id] = cli.sandbox.state.rules.ids()
  cli.sandbox.state.changeRule(id!, { enabled: true })
  await cli.ferryRun('sync alert-rules')
  cli.sandbox.state.changeRule(id!, { enabled: false })
  await cli.ferryRun('sync alert-rules')
  const told = (receiver: typeof first) =>
    receiver.received.map(({ body, headers }) => `${JSON.parse(body).type} ${headers['webhook-id']}`)
  await using killed = cli.ferryStart('worker', env)
  await waitFor(() => first.received.length > 0 && second.received.length > 0, { what: 'messages' })
  killed.child.kill('SIGKILL')
  await killed.ended
  await cli.query(`delete from ferry.leases where name = 'notify'`)
  first.answer = status(200)
  await using next = cli.ferryStart('worker', env)
  const left = () => cli.query('select from ferry.deliveries where delivered_at is null')
  await waitFor(async () => (await left()).length === 0, { what: 'all messages' })
  next.child.kill('SIGTERM')
  expect((await next.ended).code).toBe(0)
  const [disabled] = await cli.query<{ messages: number }>(
    `select count(*)::int as messages from ferry.deliveries where kind = 'rule.disabled'`,
  )
  expect(disabled?.messages).toBe(2)
  for (const receiver of [first, second]) {
    expect(new Set(told(receiver)).size).toBe(
      (await cli.query(`select from ferry.events where kind like 'rule.%'`)).length,
    )
    expect(told(receiver).at(-1)).toMatch(/^rule\.disabled/)
  }
})
