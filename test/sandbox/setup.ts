import { fetch, type Response } from 'undici'
import { OPERATIONS, type Operation } from '#src/platform/operations.ts'
import type { SandboxOptions } from '#src/sandbox/options.ts'
import type { Sandbox } from '#src/sandbox/sandbox.ts'
import { SANDBOX_PAGE_ID } from '#src/sandbox/state.ts'
import { type CheckedSandbox, openCheckedSandbox } from '#test/support/sandbox.ts'

/** What came back: the envelope parsed, the text it was, and the HTTP around it. */
export type Heard = {
  readonly status: number
  readonly headers: Response['headers']
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  readonly body: any
}

export type Asked = {
  readonly key?: string | null
  readonly method?: string
  readonly contentType?: string | null
  readonly text?: string
  readonly signal?: AbortSignal
}

/** A sandbox of its own, without latency and small. */
export function setup(options: Partial<SandboxOptions> = {}): Promise<CheckedSandbox> {
  return openCheckedSandbox({ rules: 5, servers: 5, ...options })
}

/** Calls an operation the way Ferry does; `asked` breaks the way. */
export function call(
  sandbox: Sandbox,
  operation: Operation,
  body: object = {},
  asked: Asked = {},
): Promise<Heard> {
  return ask(sandbox, OPERATIONS[operation].path, { text: JSON.stringify(body), ...asked })
}

export async function ask(sandbox: Sandbox, path: string, asked: Asked = {}): Promise<Heard> {
  const { key = sandbox.appKey, method = 'POST', contentType = 'application/json', text = '{}' } = asked
  const query = key === null ? '' : `?app_key=${key}`
  const response = await fetch(`${sandbox.baseUrl}${path}${query}`, {
    method,
    headers: contentType === null ? {} : { 'content-type': contentType },
    ...(method === 'GET' || method === 'HEAD' ? {} : { body: Buffer.from(text) }),
    ...(asked.signal === undefined ? {} : { signal: asked.signal }),
  })
  return heard(response.status, response.headers, await response.text())
}

function heard(status: number, headers: Heard['headers'], text: string): Heard {
  try {
    return { status, headers, text, body: JSON.parse(text) }
  } catch {
    return { status, headers, text, body: undefined }
  }
}

/** An import of these recipients that the platform would take. */
export function importOf(...recipients: string[]) {
  return {
    page_id: Number(SANDBOX_PAGE_ID),
    method: 'email',
    subscribers: recipients.map(recipient => ({ recipient, all: true, locale: 'en-US' })),
  }
}
