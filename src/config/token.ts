import { Secret } from '../model/secret.ts'
import { readSettingOrFile } from './setting-or-file.ts'
import type { Environment } from './settings.ts'

type TokenSetting = 'FERRY_METRICS_TOKEN' | 'FERRY_CONSOLE_TOKEN' | 'FERRY_CONSOLE_READ_TOKEN'

/** Reads a token from its setting or its file; null if neither is set. Adds mistakes to `mistakes`; none of them shows the token. */
export function readToken(setting: TokenSetting, settings: Environment, mistakes: string[]): Secret | null {
  const found = readSettingOrFile(setting, settings, mistakes)
  if (found === null) return null
  if (/^[\x21-\x7e]+$/.test(found.text)) return new Secret(found.text)
  mistakes.push(`${found.where} is not a token; write printable ASCII characters, without white space`)
  return null
}
