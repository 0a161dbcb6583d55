import type { Cli } from './open-cli.ts'
import { jsonLines } from './run-ferry.ts'

type Line = { readonly status: string; readonly found: string; readonly whatToDo?: string }

/** What doctor says of one thing, and its exit code. */
export async function examine(
  cli: Cli,
  check: string,
  settings: Record<string, string> = {},
): Promise<{ readonly code: number | null; readonly lines: Line[] }> {
  const ended = await cli.ferryRun('doctor --json', settings)
  const lines = jsonLines(ended).filter(finding => finding.check === check)
  return { code: ended.code, lines: lines as unknown as Line[] }
}

/** Every command that a text names. */
export const commandsIn = (text = '') => [...text.matchAll(/`(ferry [^`]+)`/g)].map(match => match[1] ?? '')
