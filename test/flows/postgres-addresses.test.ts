import { once } from 'node:events'
import { chmod, chown, copyFile, mkdtemp, rm, stat } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pino } from 'pino'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { openEmbeddedPostgres } from '#src/embedded/postgres.ts'
import { runFerry } from '#test/cli/run-ferry.ts'
import { onServer } from '#test/support/database.ts'
import { superuserUrlOf } from '#test/support/server.ts'

/* A Postgres of its own that speaks TLS with a private authority's certificate, and listens on a socket. */

const certificate = (name: string) =>
  fileURLToPath(new URL(`../support/certificates/${name}`, import.meta.url))
const CA = certificate('ca.pem')
let url: URL

beforeAll(async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'ferry-test-tls-'))
  await chmod(dataDir, 0o755)
  const postgres = await openEmbeddedPostgres({ dataDir, log: pino({ level: 'silent' }) })
  url = new URL(postgres.url)
  const data = join(dataDir, 'postgres', 'data')
  const { uid, gid } = await stat(data)
  const superuserUrl = await superuserUrlOf(dataDir, postgres.url)
  for (const name of ['server.key', 'server.pem']) {
    await copyFile(certificate(name), join(data, name))
    await chown(join(data, name), uid, gid)
    await chmod(join(data, name), 0o600)
  }
  await onServer(superuserUrl, "alter system set ssl_key_file = 'server.key'")
  await onServer(superuserUrl, "alter system set ssl_cert_file = 'server.pem'")
  await onServer(superuserUrl, 'alter system set ssl = on')
  await onServer(superuserUrl, 'select pg_reload_conf()')
  return async () => {
    await postgres.close()
    await rm(dataDir, { recursive: true, force: true })
  }
})

function withParameters(parameters: string, host = url.host): string {
  return `${Object.assign(new URL(url), { host }).href}?${parameters}`
}

async function ferry(databaseUrl: string) {
  return runFerry(['migrate'], { DATABASE_URL: databaseUrl, REDIS_URL: 'redis://127.0.0.1:9' })
}

test.each(['require', 'no-verify', `verify-ca&sslrootcert=${CA}`, `verify-full&sslrootcert=${CA}`])(
  'a server with the certificate of a private authority is reached by sslmode=%s',
  async parameters => {
    expect(await ferry(withParameters(`sslmode=${parameters}`))).toMatchObject({ code: 0, stderr: '' })
  },
)

test('it is reached by verify-full with NODE_EXTRA_CA_CERTS too', async () => {
  const env = { DATABASE_URL: withParameters('sslmode=verify-full'), REDIS_URL: 'redis://127.0.0.1:9' }
  expect(await runFerry(['migrate'], { ...env, NODE_EXTRA_CA_CERTS: CA })).toMatchObject({
    code: 0,
    stderr: '',
  })
})

test('without its authority it is refused at once, in words', async () => {
  const ended = await ferry(withParameters('sslmode=verify-full'))
  expect(ended.code).toBe(1)
  expect(ended.stderr).toContain(`Postgres at ${url.host}/ferry (DATABASE_URL)`)
  expect(ended.stderr).toContain('sslrootcert')
  expect(ended.stderr).not.toContain('report')
})

test('a socket leads to it too, named as host or as parameter', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'ferry-socket-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const forwarder = createServer(near => {
    const far = connect(Number(url.port), '127.0.0.1')
    near.on('error', () => far.destroy()).pipe(far)
    far.on('error', () => near.destroy()).pipe(near)
  }).listen(join(directory, '.s.PGSQL.5432'))
  onTestFinished(() => void forwarder.close())
  await once(forwarder, 'listening')
  const who = `${url.username}:${url.password}`
  expect((await ferry(`postgres://${who}@/ferry?host=${directory}`)).stderr).toBe('')
  expect((await ferry(`postgres://${who}@${encodeURIComponent(directory)}/ferry`)).stderr).toBe('')
  const nowhere = await ferry(`postgres://${who}@/ferry?host=/nowhere`)
  expect(nowhere.stderr).toContain('Postgres at /nowhere:5432/ferry (DATABASE_URL) does not answer')
})
