import { pino } from 'pino'
import { expect, test } from 'vitest'
import { openHttpIfOn } from '#src/cli/worker-http.ts'
import { readConfig } from '#src/config.ts'

const context = (env: Record<string, string>) =>
  ({ config: readConfig(env), log: pino({ level: 'silent' }) }) as Parameters<typeof openHttpIfOn>[0]

test('a worker listens only if a setting asks for it', async () => {
  await using opened = new AsyncDisposableStack()
  expect(await openHttpIfOn(context({}), {}, opened)).toBeNull()
  await expect(openHttpIfOn(context({ FERRY_CONSOLE: 'on' }), {}, opened)).rejects.toThrow(
    /FERRY_CONSOLE_READ_TOKEN, or the \.\.\._FILE of one, to 20 characters or more/,
  )
  const http = await openHttpIfOn(context({ FERRY_HTTP_PORT: '0' }), {}, opened)
  expect(http?.address).toMatch(/^http:\/\/127\.0\.0\.1:[1-9]/)
})
