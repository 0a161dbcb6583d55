import { isLoopback } from '../model/loopback.ts'
import type { Secret } from '../model/secret.ts'
import type { Environment } from './settings.ts'
import { readToken } from './token.ts'

export type HttpSettings = {
  readonly host: string
  /** Null: the command decides. 0: a free one. */
  readonly port: number | null
  /** In lower case. IP addresses and `localhost` are allowed without being here. */
  readonly hosts: readonly string[]
  /** Null: everybody may read the metrics, unless the command decides. */
  readonly metricsToken: Secret | null
  readonly console: ConsoleSettings
}

export type ConsoleSettings = {
  /** Null: the command decides. */
  readonly isOn: boolean | null
  /** Who bears it may do everything. If neither token is set, the command makes one, or there is no console. */
  readonly operateToken: Secret | null
  /** Who bears it may look, but not at recipients of imports. */
  readonly readToken: Secret | null
  /** Why the console cannot be on with these settings; null if it can. */
  readonly obstacle: string | null
}

const NEEDS_TOKEN =
  'FERRY_HTTP_HOST is not a loopback address, and the console needs a token of yours there; set FERRY_CONSOLE_TOKEN, or FERRY_CONSOLE_READ_TOKEN'

/** Reads the settings of HTTP. Adds mistakes to `mistakes`. */
export function readHttp(settings: Environment, mistakes: string[]): HttpSettings {
  return Object.freeze({
    host: settings.FERRY_HTTP_HOST,
    port: settings.FERRY_HTTP_PORT ?? null,
    hosts: settings.FERRY_HTTP_HOSTS ?? [],
    metricsToken: readToken('FERRY_METRICS_TOKEN', settings, mistakes),
    console: readConsole(settings, mistakes),
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
