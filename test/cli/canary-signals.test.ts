import { expect, test } from 'vitest'
import { SANDBOX_PAGE_ID } from '#src/sandbox/state.ts'
import { openReceiver, type Receiver, SECRET } from '#test/notify/receiver.ts'
import { fileHolding } from '#test/support/settings.ts'
import { waitFor } from '#test/support/wait-for.ts'
import { openCli } from './open-cli.ts'
import { jsonLines } from './run-ferry.ts'

/** Characters that change when the key is put into an address; the search is for the part that never does. */
const CANARY = 'kanarie7f3a9c'
const KEY = `${CANARY}+/=&%`
/** In every recipient. */
const PERSON = 'zeisig4b8d'

const READ_TOKEN = 'a-token-that-only-reads'

/** All that was sent, in whatever part of a request. */
const everythingSent = ({ received }: Receiver) => JSON.stringify(received)

/** Every page that is linked from another, each kind of page a few times, and what probes and Prometheus read. */
async function everythingServed(address: string): Promise<Map<string, string>> {
  const pages = new Map<string, string>()
  let moments = 0
  const ahead = ['/', '/livez', '/readyz', '/freshness', '/metrics']
  for (let path = ahead.shift(); path !== undefined && pages.size < 80; path = ahead.shift()) {
    const isMoment = path.startsWith('/at/')
    if (pages.has(path) || (isMoment && moments === 3)) continue
    if (isMoment) moments += 1
    const response = await fetch(address + path, { headers: { authorization: `Bearer ${READ_TOKEN}` } })
    const text = `${response.status} ${JSON.stringify([...response.headers])} ${await response.text()}`
    pages.set(path, text)
    for (const [, href = ''] of text.matchAll(/href="(\/[^"#]*)"/g)) ahead.push(href.replaceAll('&amp;', '&'))
  }
  return pages
}

test('neither a key nor a recipient is in a message, a call of the heartbeat, or an answer over HTTP', async () => {
  await using cli = await openCli({ appKey: KEY, rules: 3, servers: 3 }, { FERRY_IMPORT_LIMIT: '50/1s' })
  await using webhook = await openReceiver()
  await using names = await openReceiver()
  await using heartbeat = await openReceiver()
  const path = fileHolding(
    ['recipient', ...[1, 2, 3].map(n => `${PERSON}${n}@example.com`), `${PERSON} is nobody`].join('\n'),
  )
  const importing = `import ${path} --page ${SANDBOX_PAGE_ID} --all --default-locale en-US --yes --wait`
  const refuse = (code: 'InvalidParameter' | 'NoLicense') =>
    cli.sandbox.state.inject(
      { kind: 'error', code, message: `${PERSON}3@example.com is not valid, says ${KEY}` },
      { nth: 1 },
    )

  await cli.ferryRun('sync all')
  await cli.query(`insert into ferry.receivers (name, after_event) values ('webhook', 0), ('names', 0)`)
  const [rule] = cli.sandbox.state.rules.ids()
  cli.sandbox.state.changeRule(rule!, { enabled: false, name: 'switched off', updater_name: 'Eve' })
  await cli.ferryRun('sync all')
  refuse('InvalidParameter')
  await cli.ferryRun(importing)
  refuse('NoLicense')
  expect((await cli.ferryRun(`${importing} --update`)).code).not.toBe(0)
  await using worker = cli.ferryStart('worker --json', {
    FERRY_WEBHOOK_URL: webhook.url,
    FERRY_RECEIVERS_FILE: fileHolding(
      JSON.stringify({
        receivers: [
          { name: 'names', url: names.url, events: ['all', 'rule.*'], details: true, secretEnv: 'SIGNS' },
        ],
      }),
    ),
    SIGNS: SECRET,
    FERRY_HEARTBEAT_URL: heartbeat.url,
    FERRY_HTTP_PORT: '0',
    FERRY_CONSOLE: 'on',
    FERRY_CONSOLE_READ_TOKEN: READ_TOKEN,
    FERRY_LOG_LEVEL: 'trace',
  })
  await worker.printed('"schedules"')
  const address = String(jsonLines(worker.output)[0]?.http)
  await waitFor(() => everythingSent(webhook).includes('NoLicense') && heartbeat.received.length > 0, {
    what: 'messages and a heartbeat',
  })
  const served = await everythingServed(address)
  worker.child.kill('SIGTERM')
  const { stdout, stderr } = await worker.ended

  expect(everythingSent(webhook)).toContain('import.completed')
  expect(everythingSent(webhook)).not.toContain('rule.')
  expect(names.messages().map(({ type }) => type)).toEqual(
    expect.arrayContaining(['import.completed', 'rule.disabled']),
  )
  expect(everythingSent(names)).toContain('switched off by Eve')
  expect(served.get('/metrics')).toContain('ferry_imports')
  expect([...served.keys()].filter(path => path.startsWith('/imports/')).length).toBeGreaterThan(1)
  const places = {
    webhook: everythingSent(webhook),
    names: everythingSent(names),
    heartbeat: everythingSent(heartbeat),
    stdout,
    stderr,
    ...Object.fromEntries(served),
  }
  for (const secret of [CANARY, PERSON, READ_TOKEN, SECRET.slice(6)]) {
    expect(
      Object.keys(places).filter(place => places[place as keyof typeof places].includes(secret)),
      secret,
    ).toEqual([])
  }
})
