import { expect, test } from 'vitest'
import { listRules } from '#test/support/collect-rows.ts'
import { openScriptedPlatform } from '../support/scripted-platform.ts'

test('a page with 407 is final for a listing, and the call counts until its arrival bound is over', async () => {
  await using platform = await openScriptedPlatform((_request, response) => {
    response.writeHead(407, { 'content-type': 'text/html' }).end('<html>')
  })
  const context = { runId: null, signal: new AbortController().signal }
  expect(await listRules(platform.client, context)).toMatchObject({
    ok: false,
    requests: 1,
    refusal: { code: 'ProxyAuthenticationRequired', httpStatus: 407 },
  })
  expect(platform.throttle.calls[0]?.end).toMatchObject({ answeredAtMs: null, httpStatus: 407 })
})
