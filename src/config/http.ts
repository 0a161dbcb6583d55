import { Secret } from '../model/secret.ts'
import { readText } from './accounts-file.ts'
import type { Environment } from './settings.ts'

export type HttpSettings = {
  readonly host: string
  /** Null: the command decides. 0: a free one. */
  readonly port: number | null
  /** In lower case. IP addresses and `localhost` are allowed without being here. */
  readonly hosts: readonly string[]
  /** Null: everybody may read the metrics. */
  readonly metricsToken: Secret | null
}

/** Reads the settings of HTTP. Adds mistakes to `mistakes`. */
export function readHttp(settings: Environment, mistakes: string[]): HttpSettings {
  return Object.freeze({
    host: settings.FERRY_HTTP_HOST,
    port: settings.FERRY_HTTP_PORT ?? null,
    hosts: settings.FERRY_HTTP_HOSTS ?? [],
    metricsToken: readToken(settings, mistakes),
  })
}

/** A newline at the end of the file is not part of the token. */
function readToken(settings: Environment, mistakes: string[]): Secret | null {
  const { FERRY_METRICS_TOKEN: text, FERRY_METRICS_TOKEN_FILE: file } = settings
  if (text !== undefined && file !== undefined) {
    mistakes.push('FERRY_METRICS_TOKEN: FERRY_METRICS_TOKEN_FILE is set too; set one of them')
    return null
  }
  const token =
    file === undefined ? text : readText(file, 'FERRY_METRICS_TOKEN_FILE', mistakes)?.replace(/\r?\n$/, '')
  if (token === undefined) return null
  if (/^[\x21-\x7e]+$/.test(token)) return new Secret(token)
  const setting = file === undefined ? 'FERRY_METRICS_TOKEN' : `FERRY_METRICS_TOKEN_FILE: ${file}`
  mistakes.push(`${setting}: is not a token; write printable ASCII characters, without white space`)
  return null
}
