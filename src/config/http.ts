import { isLoopback } from '../model/loopback.ts'
import type { Secret } from '../model/secret.ts'
import type { TrustedProxy } from '../model/settings.ts'
import { readSettingOrFile, secretOf } from './setting-or-file.ts'
import type { Environment } from './settings.ts'

export type HttpSettings = {
  readonly host: string
  /** Null: the command decides. 0: a free one. */
  readonly port: number | null
  /** In lower case. IP addresses and `localhost` are allowed without being here. */
  readonly hosts: readonly string[]
  /** Required for `/metrics`. Null: none, unless the command sets one. */
  readonly metricsToken: Secret | null
  readonly console: ConsoleSettings
  /** Who signs people in for the console; null: nobody does. */
  readonly proxy: TrustedProxy | null
}

export type ConsoleSettings = {
  /** Null: the command decides. */
  readonly isOn: boolean | null
  /** Grants full access. If neither token is set, the command makes one, or the console is off. */
  readonly operateToken: Secret | null
  /** Grants read-only access, without recipients of imports. */
  readonly readToken: Secret | null
  /** Why the console cannot be on with these settings; null if it can. */
  readonly obstacle: string | null
}

const NEEDS_TOKEN =
  'FERRY_HTTP_HOST is not a loopback address, so the console needs a token; set FERRY_CONSOLE_TOKEN or FERRY_CONSOLE_READ_TOKEN'

/** Reads the settings of HTTP. Adds mistakes to `mistakes`. */
export function readHttp(settings: Environment, mistakes: string[]): HttpSettings {
  return Object.freeze({
    host: settings.FERRY_HTTP_HOST,
    port: settings.FERRY_HTTP_PORT ?? null,
    hosts: settings.FERRY_HTTP_HOSTS ?? [],
    metricsToken: readToken('FERRY_METRICS_TOKEN', settings, mistakes),
    console: readConsole(settings, mistakes),
    proxy: readProxy(settings, mistakes),
  })
}

function readConsole(settings: Environment, mistakes: string[]): ConsoleSettings {
  const { FERRY_CONSOLE: text, FERRY_HTTP_HOST: host } = settings
  const operateToken = readToken('FERRY_CONSOLE_TOKEN', settings, mistakes)
  const readOnlyToken = readToken('FERRY_CONSOLE_READ_TOKEN', settings, mistakes)
  if (operateToken && operateToken.reveal() === readOnlyToken?.reveal()) {
    mistakes.push('FERRY_CONSOLE_READ_TOKEN: is the same as FERRY_CONSOLE_TOKEN; write two different tokens')
  }
  const obstacle = operateToken || readOnlyToken || isLoopback(host) ? null : NEEDS_TOKEN
  if (text === 'on' && obstacle) mistakes.push(`FERRY_CONSOLE: ${obstacle}`)
  return {
    isOn: text === undefined ? null : text === 'on',
    operateToken,
    readToken: readOnlyToken,
    obstacle,
  }
}

/** A header that counts from anywhere would let anybody be anybody. */
function readProxy(settings: Environment, mistakes: string[]): TrustedProxy | null {
  const {
    FERRY_CONSOLE_TRUST_HEADER: header,
    FERRY_CONSOLE_TRUST_FROM: from,
    FERRY_CONSOLE_TRUST_GROUPS: groups = null,
  } = settings
  if (header === undefined) {
    for (const [name, value] of Object.entries({ FROM: from, GROUPS: groups })) {
      if (value)
        mistakes.push(
          `FERRY_CONSOLE_TRUST_${name}: does nothing without FERRY_CONSOLE_TRUST_HEADER; set that too`,
        )
    }
    return null
  }
  if (from === undefined) {
    mistakes.push(
      'FERRY_CONSOLE_TRUST_HEADER: would be trusted from nobody; set FERRY_CONSOLE_TRUST_FROM to the addresses of the proxy that sets the header',
    )
    return null
  }
  if (groups?.header === header) {
    mistakes.push(
      'FERRY_CONSOLE_TRUST_GROUPS: names the header of FERRY_CONSOLE_TRUST_HEADER; write the one with the groups',
    )
  }
  return { header, from, groups }
}

type TokenSetting = 'FERRY_METRICS_TOKEN' | 'FERRY_CONSOLE_TOKEN' | 'FERRY_CONSOLE_READ_TOKEN'

/** Of random letters and digits: 10^35 tokens. */
const MIN_CHARACTERS = 20
const TOKEN = /^[\x21-\x7e]+$/

/**
 * Reads a token from its setting or its file; null if neither is set. Adds mistakes to `mistakes`; none of them shows the
 * token.
 */
export function readToken(setting: TokenSetting, settings: Environment, mistakes: string[]): Secret | null {
  const found = readSettingOrFile(setting, settings, mistakes)
  if (found === null) return null
  if (!TOKEN.test(found.text)) {
    mistakes.push(`${found.where} is not a token; write printable ASCII characters, without white space`)
    return null
  }
  if (found.text.length < MIN_CHARACTERS) {
    mistakes.push(
      `${found.where} is a token that is easy to guess; write ${MIN_CHARACTERS} characters or more, such as \`openssl rand -hex 24\` prints`,
    )
    return null
  }
  return secretOf(found, found.text, text =>
    TOKEN.test(text) && text.length >= MIN_CHARACTERS ? text : null,
  )
}
