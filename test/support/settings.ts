import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { ConfigurationError, readConfig } from '#src/config.ts'

export const CANARY = 'canary-7f3a9c41d2e8b605'
export const ONE_ACCOUNT = { FERRY_BASE_URL: 'https://api.example.com', FERRY_APP_KEY: CANARY }

export function mistakesOf(env: Record<string, string>): readonly string[] {
  try {
    readConfig(env)
  } catch (error) {
    if (error instanceof ConfigurationError) return error.mistakes
    throw error
  }
  return []
}

/** The path of a file with this content; it is gone at the end of the test. */
export function fileHolding(content: unknown): string {
  const directory = mkdtempSync(join(tmpdir(), 'ferry-config-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const path = join(directory, 'file')
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}
