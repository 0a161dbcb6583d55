import { Secret } from '../model/secret.ts'
import { readText } from './accounts-file.ts'
import type { Environment } from './settings.ts'

type TokenSetting = 'FERRY_METRICS_TOKEN' | 'FERRY_CONSOLE_TOKEN' | 'FERRY_CONSOLE_READ_TOKEN'

/**
 * Reads a token from the setting, or from the file that the setting `…_FILE` names; null if neither is set. A newline at
 * the end of the file is not part of the token. Adds mistakes to `mistakes`; none of them shows the token.
 */
export function readToken(setting: TokenSetting, settings: Environment, mistakes: string[]): Secret | null {
  const fileSetting = `${setting}_FILE` as const
  const text = settings[setting]
  const file = settings[fileSetting]
  if (text !== undefined && file !== undefined) {
    mistakes.push(`${setting}: ${fileSetting} is set too; set one of them`)
    return null
  }
  const token = file === undefined ? text : readText(file, fileSetting, mistakes)?.replace(/\r?\n$/, '')
  if (token === undefined) return null
  if (/^[\x21-\x7e]+$/.test(token)) return new Secret(token)
  const where = file === undefined ? setting : `${fileSetting}: ${file}`
  mistakes.push(`${where}: is not a token; write printable ASCII characters, without white space`)
  return null
}
