import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { listRules } from '../support/collect-rows.ts'
import { context } from '../support/platform-calls.ts'
import { openScriptedPlatform, success } from '../support/scripted-platform.ts'
import { alertRuleWire } from '../support/wire.ts'

const LONG = Buffer.from(
  JSON.stringify(
    success(Array.from({ length: 20_000 }, (_, id) => alertRuleWire({ id, name: `${Math.random()}` }))),
  ),
)

for (const encoding of ['identity', 'gzip']) {
  test(`an answer (${encoding}) whose rows cannot be taken keeps no connection`, async () => {
    const closed = Promise.withResolvers<void>()
    await using platform = await openScriptedPlatform((_, response) => {
      response.on('close', closed.resolve)
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': encoding })
      response.end(encoding === 'gzip' ? gzipSync(LONG) : LONG)
    })
    const pause = () => Promise.reject(new Error('Postgres is away'))
    await expect(listRules(platform.client, context, { pause })).rejects.toThrow('Postgres is away')
    await closed.promise
    await expect
      .poll(() => new Promise(done => platform.server.getConnections((_, open) => done(open))))
      .toBe(0)
    expect(platform.throttle.calls).toMatchObject([{ state: 'finished', end: { errorCode: 'NoAnswer' } }])
  })
}
