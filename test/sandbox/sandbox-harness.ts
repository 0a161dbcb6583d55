import { fetch, type Response } from 'undici'
import type { Operation } from '#src/model/call.ts'
import { OPERATIONS } from '#src/platform/operations.ts'
import type { SandboxOptions } from '#src/sandbox/options.ts'
import type { Sandbox } from '#src/sandbox/sandbox.ts'
import { SANDBOX_PAGE_ID } from '#src/sandbox/state.ts'
import { type CheckedSandbox, openCheckedSandbox } from '#test/support/sandbox.ts'

/** An answer of the sandbox: HTTP status and headers, the text, and the parsed envelope. */
export type SandboxResponse = {
  readonly status: number
  readonly headers: Response['headers']
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  readonly body: any
}

export type RequestOptions = {
  readonly key?: string | null
  readonly method?: string
  readonly contentType?: string | null
  readonly text?: string
  readonly signal?: AbortSignal
}

/** A new small sandbox without latency. */
export function openSmallSandbox(options: Partial<SandboxOptions> = {}): Promise<CheckedSandbox> {
  return openCheckedSandbox({ rules: 5, servers: 5, ...options })
}

/** Calls an operation as Ferry does, except for what `asked` changes. */
export function call(
  sandbox: Sandbox,
  operation: Operation,
  body: object = {},
  asked: RequestOptions = {},
): Promise<SandboxResponse> {
  return ask(sandbox, OPERATIONS[operation].path, { text: JSON.stringify(body), ...asked })
}

export async function ask(
  sandbox: Sandbox,
  path: string,
  asked: RequestOptions = {},
): Promise<SandboxResponse> {
  const { key = sandbox.appKey, method = 'POST', contentType = 'application/json', text = '{}' } = asked
  const query = key === null ? '' : `?app_key=${key}`
  const response = await fetch(`${sandbox.baseUrl}${path}${query}`, {
    method,
    headers: contentType === null ? {} : { 'content-type': contentType },
    ...(method === 'GET' || method === 'HEAD' ? {} : { body: Buffer.from(text) }),
    ...(asked.signal === undefined ? {} : { signal: asked.signal }),
  })
  return responseOf(response.status, response.headers, await response.text())
}

function responseOf(status: number, headers: SandboxResponse['headers'], text: string): SandboxResponse {
  try {
    return { status, headers, text, body: JSON.parse(text) }
  } catch {
    return { status, headers, text, body: undefined }
  }
}

/** An import of these recipients that the platform accepts. */
export function importOf(...recipients: string[]) {
  return {
    page_id: Number(SANDBOX_PAGE_ID),
    method: 'email',
    subscribers: recipients.map(recipient => ({ recipient, all: true, locale: 'en-US' })),
  }
}
