import { expect, test } from 'vitest'
import { openReceiver, SECRET, status } from '#test/notify/receiver.ts'
import { openCli } from './open-cli.ts'

test('notify test sends a signed message and says what the receiver answered', async () => {
  await using cli = await openCli({ rules: 0, servers: 0 })
  await using receiver = await openReceiver()
  const env = { FERRY_WEBHOOK_URL: receiver.url, FERRY_WEBHOOK_SECRET: SECRET }
  const ok = await cli.ferryRun('notify test', env)
  expect(ok).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('accepted the test message (HTTP 200)'),
  })
  const [message] = receiver.messages()
  expect(message).toMatchObject({ type: 'notify.test', data: { summary: expect.stringContaining('test') } })
  expect(ok.stdout).toContain(message?.id)

  receiver.answer = status(500)
  const failed = await cli.ferryRun('notify test', env)
  expect(failed).toMatchObject({ code: 1, stdout: expect.stringContaining('it answered HTTP 500') })
  const json = await cli.ferryRun('notify test --json', { ...env, FERRY_WEBHOOK_FORMAT: 'slack' })
  expect(JSON.parse(json.stdout)).toEqual({
    id: expect.stringMatching(/^msg_/),
    delivered: false,
    httpStatus: 500,
    format: 'slack',
    signed: false,
    failure: 'it answered HTTP 500',
  })
})

test('notify test without a receiver is wrong usage; without a secret it says that nothing was signed', async () => {
  await using cli = await openCli({ rules: 0, servers: 0 })
  await using receiver = await openReceiver()
  const none = await cli.ferryRun('notify test')
  expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining('FERRY_WEBHOOK_URL') })
  const unsigned = await cli.ferryRun('notify test', { FERRY_WEBHOOK_URL: receiver.url })
  expect(unsigned).toMatchObject({ code: 0, stdout: expect.stringContaining('It was not signed') })
})

test('notify list shows what was told, what waits and what no receiver accepted within a day', async () => {
  await using cli = await openCli({ rules: 0, servers: 0 })
  expect((await cli.ferryRun('notify list')).stdout).toContain('There is none.')
  await cli.query(
    `insert into ferry.events (kind, state, account, subject, data, attempts, at, delivered_at, failure) values
       ('import.paused', 'raised', 'default', '1', '{}', 1, clock_timestamp(), clock_timestamp(), null),
       ('import.paused', 'resolved', 'default', '1', '{}', 2, clock_timestamp(), null, 'it answered HTTP 500'),
       ('import.paused', 'raised', 'default', '2', '{}', 9, clock_timestamp() - interval '25 h', null, 'no'),
       ('import.paused', 'raised', 'default', '3', '{}', 0, clock_timestamp() - interval '25 h', null, null)`,
  )
  const rows = async (args: string) =>
    (await cli.ferryRun(`notify list --json ${args}`.trim())).stdout
      .trim()
      .split('\n')
      .map(line => JSON.parse(line))
  expect((await rows('')).map(row => row.delivery)).toEqual(['not sent', 'dead', 'waiting', 'delivered'])
  expect(await rows('--undelivered --limit 1')).toMatchObject([
    { event: '3', kind: 'import.paused', subject: '2', delivery: 'dead', attempts: 9, failure: 'no' },
  ])
  expect((await cli.ferryRun('notify list --undelivered')).stdout).toMatch(/import\.paused.*dead.*no/)

  const doctor = await cli.ferryRun('doctor --json', { FERRY_WEBHOOK_URL: 'http://127.0.0.1:9/' })
  const finding = doctor.stdout.split('\n').find(line => line.includes('"notifications"')) ?? '{}'
  expect(JSON.parse(finding)).toMatchObject({
    status: 'warn',
    found: expect.stringContaining('1 message was not accepted within a day'),
  })
})
