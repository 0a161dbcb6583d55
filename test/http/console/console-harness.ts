import type { Logger } from 'pino'
import type { Config } from '#src/config.ts'
import type { Tokens } from '#src/http/console/access.ts'
import { Secret } from '#src/model/secret.ts'
import type { SandboxOptions } from '#src/sandbox/options.ts'
import { type Answered, ask, type HttpHarness, openHttpHarness } from '../http-harness.ts'

export const OPERATE_TOKEN = 'operate-1234567890'
export const READ_TOKEN = 'read-0987654321'

export type ConsoleHarness = HttpHarness & {
  /** Asks for a page as somebody on this machine, or with a token. */
  page(path: string, token?: string): Promise<Answered>
  /** Opens the confirmation page of an action, and sends its form as a browser does. */
  submit(path: string, fields?: Record<string, string>, token?: string): Promise<Answered>
}

const BROWSER = { 'sec-fetch-site': 'same-origin', accept: 'text/html' }

/**
 * The console of a worker in this process, over a real Postgres and the sandbox. Without tokens unless `tokens` are given.
 * What the worker logs goes to `log`.
 */
export async function openConsoleHarness(
  {
    tokens = { operate: null, read: null },
    log,
    config,
  }: { tokens?: Tokens; log?: Logger; config?: Partial<Config> } = {},
  sandboxOptions: Partial<SandboxOptions> = {},
): Promise<ConsoleHarness> {
  const harness = await openHttpHarness({ console: tokens, ...(log && { log }) }, sandboxOptions, config)
  const page = (path: string, token?: string) =>
    ask(harness.http.address + path, { headers: { ...BROWSER, ...bearing(token) } })
  return {
    ...harness,
    page,
    async submit(path, fields = {}, token) {
      const form = await page(path, token)
      const hidden = hiddenFields(form.text)
      if (!hidden.token) throw new Error(`no form at ${path}: ${form.status} ${form.text}`)
      return sendForm(harness.http.address + path, { ...hidden, ...fields }, bearing(token))
    },
  }
}

/** What the form of a page sends without anybody typing. */
export function hiddenFields(page: string): Record<string, string> {
  const inputs = page.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)
  return Object.fromEntries([...inputs].map(([, name = '', value = '']) => [name, value]))
}

export const BOTH_TOKENS: Tokens = { operate: new Secret(OPERATE_TOKEN), read: new Secret(READ_TOKEN) }

/**
 * Ways to send a form that are all refused: with the token to read, from another site, without the token of the form, and
 * with `foreign`, the fields of another form.
 */
export function refusedWays(fields: Record<string, string>, foreign: Record<string, string>) {
  const elsewhere = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }
  const operating = bearing(OPERATE_TOKEN)
  return [
    { sent: fields, headers: bearing(READ_TOKEN) },
    { sent: fields, headers: { ...operating, ...elsewhere } },
    { sent: { ...fields, token: '' }, headers: operating },
    { sent: { ...fields, token: '1.x' }, headers: operating },
    { sent: { ...fields, ...foreign }, headers: operating },
  ]
}

/** Sends a form, by default as a page of the console does. */
export function sendForm(
  url: string,
  fields: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<Answered> {
  return ask(url, {
    method: 'POST',
    headers: { ...BROWSER, 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: new URLSearchParams(fields).toString(),
  })
}

export function bearing(token: string | undefined): Record<string, string> {
  return token === undefined ? {} : { authorization: `Bearer ${token}` }
}

export function basic(name: string, token: string): Record<string, string> {
  return { authorization: `Basic ${Buffer.from(`${name}:${token}`).toString('base64')}` }
}
