import { Secret } from '../model/secret.ts'
import { readSettingOrFile } from './setting-or-file.ts'
import type { Environment } from './settings.ts'

type TokenSetting = 'FERRY_METRICS_TOKEN' | 'FERRY_CONSOLE_TOKEN' | 'FERRY_CONSOLE_READ_TOKEN'

/** Of random letters and digits: 10^35 tokens. */
const MIN_CHARACTERS = 20

/** Reads a token from its setting or its file; null if neither is set. Adds mistakes to `mistakes`; none of them shows the token. */
export function readToken(setting: TokenSetting, settings: Environment, mistakes: string[]): Secret | null {
  const found = readSettingOrFile(setting, settings, mistakes)
  if (found === null) return null
  if (!/^[\x21-\x7e]+$/.test(found.text)) {
    mistakes.push(`${found.where} is not a token; write printable ASCII characters, without white space`)
    return null
  }
  if (found.text.length < MIN_CHARACTERS) {
    mistakes.push(
      `${found.where} is a token that can be guessed; write ${MIN_CHARACTERS} characters or more, such as \`openssl rand -hex 24\` prints`,
    )
    return null
  }
  return new Secret(found.text)
}
