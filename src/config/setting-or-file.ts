import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { Secret } from '../model/secret.ts'
import { readText } from './json-file.ts'
import { FileSecret } from './secret-file.ts'
import type { Environment } from './settings.ts'

/** Settings that hold a secret. For each there is one named `…_FILE`. */
export const SECRET_SETTINGS = [
  'FERRY_APP_KEY',
  'FERRY_METRICS_TOKEN',
  'FERRY_CONSOLE_TOKEN',
  'FERRY_CONSOLE_READ_TOKEN',
  'FERRY_WEBHOOK_SECRET',
] as const
type SettingWithFile = (typeof SECRET_SETTINGS)[number]

/** A secret as text, and where it was found, for messages. */
export type Found = {
  readonly text: string
  readonly where: string
  /** The file that holds it, and the setting that names the file; undefined if the setting holds it. */
  readonly file?: { readonly path: string; readonly setting: string }
}

/** Returns what was found as a secret, which is read anew when its file changes. `parse` returns null for what is none. */
export function secretOf({ file }: Found, first: string, parse: (text: string) => string | null): Secret {
  return file ? new FileSecret(file.path, file.setting, first, parse) : new Secret(first)
}

/**
 * Returns what the setting holds, or the file that the setting `…_FILE` names; null if neither is set. A newline at the end
 * of the file is left out. Adds mistakes to `mistakes`; none of them shows what was found.
 */
export function readSettingOrFile(
  setting: SettingWithFile,
  settings: Environment,
  mistakes: string[],
): Found | null {
  const fileSetting = `${setting}_FILE` as const
  const { [setting]: text, [fileSetting]: file } = settings
  if (text !== undefined && file !== undefined) {
    mistakes.push(`${setting}: ${fileSetting} is set too; set one of them`)
    return null
  }
  if (file === undefined) return text === undefined ? null : { text, where: `${setting}:` }
  return readSecretFile(file, fileSetting, mistakes)
}

/** Returns the name of a variable as a message may show it: what stands in its place may be the secret itself. */
export function shownVariable(name: string, key: string): string {
  return /^[A-Z][A-Z\d_]*$/.test(name) ? name : `the variable that ${key} names`
}

/** Returns what the file holds, without a newline at its end; null if it cannot be read. */
export function readSecretFile(file: string, setting: string, mistakes: string[]): Found | null {
  const isPath = file.includes('/') && existsSync(dirname(file))
  const shown = isPath ? file : 'the file that it names' // which may be the secret itself
  const text = readText(file, setting, mistakes, shown)?.replace(/\r?\n$/, '')
  return text === undefined ? null : { text, where: `${setting}: ${file}`, file: { path: file, setting } }
}
