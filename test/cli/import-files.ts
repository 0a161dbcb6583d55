import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { SANDBOX_PAGE_ID } from '#src/sandbox/state.ts'
import { type Cli, openCli } from './open-cli.ts'

/** The path of an empty directory; it is gone at the end of the test. */
export function directory(): string {
  const path = mkdtempSync(join(tmpdir(), 'ferry-import-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  return path
}

/** The path of a file that does not exist yet. */
export const pathOf = (name: string) => join(directory(), name)

export function file(lines: readonly string[]): string {
  const path = pathOf('people.csv')
  writeFileSync(path, `${lines.join('\n')}\n`)
  return path
}

export const HEADER = 'recipient,all,component_ids,locale'

/** A file of so many people, all good, and then these lines. */
export function people(rows: number, ...more: readonly string[]): string {
  const good = Array.from({ length: rows }, (_, n) => `p${n}@example.com,true,,en-US`)
  return file([HEADER, ...good, ...more])
}

/** The contract's real limit would make each test wait for minutes. */
export const open = (settings = {}) => openCli({}, { FERRY_IMPORT_LIMIT: '50/1s', ...settings })

export const PAGE = `--page ${SANDBOX_PAGE_ID}`

export const subscribed = (cli: Cli) => cli.sandbox.state.subscribers.count(SANDBOX_PAGE_ID, 'email')
