import type { Logger } from 'pino'
import type { Config } from '#src/config.ts'
import type { Tokens } from '#src/http/console/access.ts'
import { Secret } from '#src/model/secret.ts'
import type { TrustedProxy } from '#src/model/settings.ts'
import type { SandboxOptions } from '#src/sandbox/options.ts'
import { type Answered, ask, type HttpHarness, openHttpHarness } from '../http-harness.ts'

export const OPERATE_TOKEN = 'operate-12345678901234567890'
export const READ_TOKEN = 'read-09876543210987654321'

export type ConsoleHarness = HttpHarness & {
  /** Asks for a page with a token; where none were given, with the one to operate. */
  page(path: string, token?: string): Promise<Answered>
  /** Opens the confirmation page of an action, and sends its form as a browser does. */
  submit(path: string, fields?: Record<string, string>, token?: string): Promise<Answered>
}

const BROWSER = { 'sec-fetch-site': 'same-origin', accept: 'text/html' }

/**
 * The console of a worker in this process, over a real Postgres and the sandbox. Whoever asks operates it, unless `tokens` are given: then
 * a token must be given too.
 * What the worker logs goes to `log`.
 */
export async function openConsoleHarness(
  {
    tokens,
    signsInOnce = false,
    log,
    config,
    proxy = null,
  }: {
    tokens?: Tokens
    signsInOnce?: boolean
    log?: Logger
    config?: Partial<Config>
    proxy?: TrustedProxy | null
  } = {},
  sandboxOptions: Partial<SandboxOptions> = {},
): Promise<ConsoleHarness> {
  const usual = tokens ? undefined : OPERATE_TOKEN
  const all = tokens ?? { operate: new Secret(OPERATE_TOKEN), read: null }
  const harness = await openHttpHarness(
    { console: all, signsInOnce, proxy, ...(log && { log }) },
    sandboxOptions,
    config,
  )
  const page = (path: string, token = usual) =>
    ask(harness.http.address + path, { headers: { ...BROWSER, ...bearing(token) } })
  return {
    ...harness,
    page,
    async submit(path, fields = {}, token = usual) {
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
  const { token: _, ...tokenless } = fields
  return [
    { sent: tokenless, headers: operating },
    { sent: fields, headers: bearing(READ_TOKEN) },
    { sent: fields, headers: { ...operating, ...elsewhere } },
    { sent: { ...fields, token: '' }, headers: operating },
    { sent: { ...fields, token: '1.x' }, headers: operating },
    { sent: { ...fields, ...foreign }, headers: operating },
  ]
}

/** Sends a form, by default as a page of the console does for somebody who operates it. */
export function sendForm(
  url: string,
  fields: Record<string, string>,
  headers: Record<string, string> = bearing(OPERATE_TOKEN),
): Promise<Answered> {
  return ask(url, {
    method: 'POST',
    headers: { ...BROWSER, 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: new URLSearchParams(fields).toString(),
  })
}

/** For a browser that is signed in from the start. */
export const SIGNED_IN = { extraHTTPHeaders: bearing(OPERATE_TOKEN) }

export function bearing(token: string | undefined): Record<string, string> {
  return token === undefined ? {} : { authorization: `Bearer ${token}` }
}

export function basic(name: string, token: string): Record<string, string> {
  return { authorization: `Basic ${Buffer.from(`${name}:${token}`).toString('base64')}` }
}
