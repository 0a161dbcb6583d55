import { readFileSync } from 'node:fs'

/** The version of Ferry, as its package says. */
export function versionOfPackage(): string {
  const { version }: { version: string } = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  )
  return version
}
