import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { openReceiver, SECRET, status } from '#test/notify/receiver.ts'
import { fileHolding } from '#test/support/settings.ts'
import { openTunnelProxy } from '#test/support/tunnel-proxy.ts'
import { type Cli, openCli } from './open-cli.ts'
import { jsonLines } from './run-ferry.ts'

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
    receiver: 'webhook',
    delivered: false,
    httpStatus: 500,
    format: 'slack',
    signed: false,
    failure: 'it answered HTTP 500',
  })
})

/** Messages about events: event, receiver, attempts and failure. One without a failure that was tried is delivered. */
function addDeliveries(cli: Cli, values: string) {
  return cli.query(
    `insert into ferry.deliveries (event, receiver, kind, account, subject, data, at, attempts, failure, delivered_at)
     select v.event, v.receiver, kind, account, subject, data, at, v.attempts, v.failure,
       case when v.attempts > 0 and v.failure is null then now() end
     from (values ${values}) v (event, receiver, attempts, failure) join ferry.events e on e.id = v.event`,
  )
}

test('notify test tries each receiver, or the one that is named', async () => {
  await using cli = await openCli({ rules: 0, servers: 0 })
  await using receiver = await openReceiver()
  const file = fileHolding(
    JSON.stringify({
      receivers: [
        { name: 'ops', url: receiver.url, secretEnv: 'OPS_SECRET' },
        { name: 'ops-eu', url: receiver.url },
        { name: 'dead', url: 'http://127.0.0.1:9/canary' },
      ],
    }),
  )
  const env = { FERRY_RECEIVERS_FILE: file, OPS_SECRET: SECRET }
  const both = await cli.ferryRun('notify test --json', env)
  expect(both.code).toBe(1)
  expect(jsonLines(both)).toMatchObject([
    { receiver: 'ops', delivered: true, signed: true },
    { receiver: 'ops-eu', delivered: true, signed: false },
    { receiver: 'dead', delivered: false, signed: false },
  ])
  const one = await cli.ferryRun('notify test ops', env)
  expect(one).toEqual({
    code: 0,
    signal: null,
    stdout: `ops: the receiver accepted the test message (HTTP 200).\nIts id is ${receiver.received.at(-1)?.headers['webhook-id']}.\n`,
    stderr: '',
  })
  expect(receiver.received).toHaveLength(3)
  for (const name of ['opps', 'op']) {
    const unknown = await cli.ferryRun(`notify test ${name}`, env)
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('did you mean ops?') })
  }
  expect(receiver.received).toHaveLength(3)
  expect(both.stdout + both.stderr).not.toContain('canary')
})

test('notify test without a receiver is wrong usage; without a secret it says that nothing was signed', async () => {
  await using cli = await openCli({ rules: 0, servers: 0 })
  await using receiver = await openReceiver()
  const none = await cli.ferryRun('notify test')
  expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining('FERRY_WEBHOOK_URL') })
  const unsigned = await cli.ferryRun('notify test', { FERRY_WEBHOOK_URL: receiver.url })
  expect(unsigned).toMatchObject({ code: 0, stdout: expect.stringContaining('It was not signed') })
})

const CERTIFICATES = new URL('../support/certificates/', import.meta.url)
const certificate = (name: string) => readFileSync(new URL(name, CERTIFICATES))

test('a message goes through the proxy of HTTPS_PROXY, whose password is in no output', async () => {
  await using cli = await openCli({ rules: 0, servers: 0 })
  await using receiver = await openReceiver({
    key: certificate('server.key'),
    cert: certificate('server.pem'),
  })
  await using proxy = await openTunnelProxy(Number(new URL(receiver.url).port))
  const env = {
    FERRY_WEBHOOK_URL: 'https://localhost:4443/hook',
    FERRY_WEBHOOK_SECRET: SECRET,
    HTTPS_PROXY: proxy.url,
    NO_PROXY: '',
    NODE_EXTRA_CA_CERTS: fileURLToPath(new URL('ca.pem', CERTIFICATES)),
  }
  await using sending = cli.ferryStart('notify test', env)
  expect(await sending.ended).toMatchObject({ code: 0, stdout: expect.stringContaining('HTTP 200') })
  expect(receiver.messages()).toMatchObject([{ type: 'notify.test' }])
  const credentials = Buffer.from('ada:canary-of-the-proxy').toString('base64')
  expect(proxy.asked).toEqual([`CONNECT localhost:4443 Basic ${credentials}`])

  const { stdout, stderr } = await cli.ferryRun('notify test', {
    ...env,
    HTTPS_PROXY: 'http://ada:canary@127.0.0.1:9',
  })
  expect(stdout).toContain('through the proxy 127.0.0.1:9 (HTTPS_PROXY)')
  expect(stdout + stderr).not.toContain('canary')
  // The address is checked although the proxy would look up its name.
  const refused = await cli.ferryRun('notify test', {
    ...env,
    FERRY_WEBHOOK_URL: 'https://10.0.0.1/hook',
    FERRY_WEBHOOK_PRIVATE: 'false',
  })
  expect(refused.stdout).toContain('FERRY_WEBHOOK_PRIVATE=false')
  expect(proxy.asked).toHaveLength(1)
})

test('notify list shows what was told, what waits and what no receiver accepted within a day', async () => {
  await using cli = await openCli({ rules: 0, servers: 0 })
  expect((await cli.ferryRun('notify list')).stdout).toContain('No events.')
  await cli.query(
    `insert into ferry.events (kind, state, account, subject, data, at, routed_at) values
       ('import.paused', 'raised', 'default', '1', '{}', now(), now()), ('import.paused', 'resolved', 'default', '1', '{}', now(), now()),
       ('import.paused', 'raised', 'default', '2', '{}', now() - interval '25 h', now()), ('import.paused', 'raised', 'default', '3', '{}', now(), now())`,
  )
  await addDeliveries(
    cli,
    "(1, 'webhook', 1, null), (1, 'chat', 3, 'no'), (2, 'webhook', 2, 'it answered HTTP 500'), (3, 'webhook', 9, 'no')",
  )
  const rows = async (args: string) =>
    (await cli.ferryRun(`notify list --json ${args}`.trim())).stdout
      .trim()
      .split('\n')
      .map(line => JSON.parse(line))
  expect((await rows('')).map(row => row.delivery)).toEqual(['not sent', 'dead', 'waiting', 'waiting'])
  expect(await rows('--undelivered --limit 1')).toMatchObject([
    {
      event: '3',
      kind: 'import.paused',
      subject: '2',
      delivery: 'dead',
      deliveries: [{ receiver: 'webhook', delivery: 'dead', attempts: 9, failure: 'no' }],
    },
  ])
  expect((await cli.ferryRun('notify list --undelivered')).stdout).toMatch(
    /import\.paused.*webhook: dead.*no/,
  )
  expect((await cli.ferryRun('notify list')).stdout).toContain('chat: waiting, webhook: delivered')

  const doctor = await cli.ferryRun('doctor --json', { FERRY_WEBHOOK_URL: 'http://127.0.0.1:9/' })
  const finding = doctor.stdout.split('\n').find(line => line.includes('"notifications"')) ?? '{}'
  expect(JSON.parse(finding)).toMatchObject({
    status: 'warn',
    found: '1 message to webhook was not accepted within a day; 1 message to webhook waits to be sent again',
  })
})

test('what no receiver wants waits for nobody; others wait behind one that is sent again', async () => {
  await using cli = await openCli({ rules: 0, servers: 0 })
  await cli.query(
    `insert into ferry.events (kind, state, account, subject, data, routed_at) values
       ('import.paused', 'raised', 'default', '1', '{}', now()), ('import.paused', 'resolved', 'default', '1', '{}', now()),
       ('drift.found', 'raised', 'default', 'alert-rules', '{}', now())`,
  )
  await addDeliveries(cli, "(1, 'webhook', 1, 'no'), (2, 'webhook', 0, null)")
  const env = { FERRY_WEBHOOK_URL: 'http://127.0.0.1:9/', FERRY_NOTIFY: 'import.paused' }
  const listed = jsonLines(await cli.ferryRun('notify list --json', env))
  expect(listed.map(row => row.delivery)).toEqual(['not sent', 'waiting', 'waiting'])
  expect(jsonLines(await cli.ferryRun('doctor --json', env))).toContainEqual(
    expect.objectContaining({ found: '1 message to webhook waits to be sent again, and 1 more behind' }),
  )
})
