import { readFileSync } from 'node:fs'

/** The version in Ferry's package.json. */
export function versionOfPackage(): string {
  const { version }: { version: string } = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  )
  return version
}
