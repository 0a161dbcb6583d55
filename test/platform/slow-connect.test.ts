import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { TLSSocket } from 'node:tls'
import { expect, onTestFinished, test } from 'vitest'
import { listRules } from '#test/support/collect-rows.ts'
import { openScriptedPlatform } from '#test/support/scripted-platform.ts'

const read = (name: string) => readFileSync(new URL(`../support/certificates/${name}`, import.meta.url))
const TLS = { key: read('server.key'), cert: read('server.pem') }

test('a platform that takes seconds to connect, as after a lost packet, is waited for', async () => {
  const server = createServer(socket => {
    const answer = () => new TLSSocket(socket, { isServer: true, ...TLS }).on('error', () => {})
    socket.on('error', () => {})
    // The line is slow: what the client says arrives here later.
    setTimeout(answer, 3_000)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  await using platform = await openScriptedPlatform(() => {}, {
    baseUrl: `https://127.0.0.1:${port}`,
    requestTimeoutMs: 20_000,
  })
  const answer = await listRules(platform.client, { runId: null, signal: new AbortController().signal })
  // It came as far as the certificate, which nobody here vouches for.
  expect(answer).toMatchObject({ ok: false, refusal: { kind: 'certificate' } })
})
