import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { ConfigurationError, readConfig } from '#src/config.ts'

const DIRECTORY = mkdtempSync(join(tmpdir(), 'ferry-config-'))
afterAll(() => rmSync(DIRECTORY, { recursive: true }))

export const CANARY = 'canary-7f3a9c'
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

export function fileHolding(content: unknown): string {
  const path = join(mkdtempSync(join(DIRECTORY, 'of-')), 'file')
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}
