import { Agent, fetch, interceptors, request } from 'undici'
import { expect, onTestFinished, test } from 'vitest'
import { OPERATIONS } from '#src/platform/operations.ts'
import { openSmallSandbox } from './sandbox-harness.ts'

test('gzip is answered to those who ask for it, in members that any reader joins', async () => {
  await using sandbox = await openSmallSandbox({ rules: 300 })
  const url = `${sandbox.baseUrl}${OPERATIONS['list-alert-rules'].path}?app_key=${sandbox.appKey}`
  const options = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' } as const
  const agent = new Agent()
  onTestFinished(() => agent.close())
  const plain = await request(url, { ...options, dispatcher: agent })
  expect(plain.headers['content-encoding']).toBeUndefined()
  const data = ((await plain.body.json()) as { data: unknown }).data
  expect(data).toHaveLength(300)

  const headers = { ...options.headers, 'accept-encoding': 'gzip' }
  const fetched = await fetch(url, { ...options, headers, dispatcher: agent })
  expect(fetched.headers.get('content-encoding')).toBe('gzip')
  expect(await fetched.json()).toMatchObject({ data })
  const decompressing = agent.compose(interceptors.decompress())
  const requested = await request(url, { ...options, headers, dispatcher: decompressing })
  expect(await requested.body.json()).toMatchObject({ data })
})
