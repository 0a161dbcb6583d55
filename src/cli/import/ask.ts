import { createInterface } from 'node:readline/promises'

/** Whether a person can be asked: there is a terminal, and stdin is not the file at `path`. */
export function canAsk(path?: string): boolean {
  return path !== '-' && Boolean(process.stdin.isTTY) && Boolean(process.stderr.isTTY)
}

/** Asks on stderr. Returns true only for `y` or `yes`. */
export async function ask(question: string, signal: AbortSignal): Promise<boolean> {
  // Not in terminal mode: in it readline would handle Ctrl-C itself.
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: false })
  try {
    return /^y(es)?$/i.test((await lines.question(`${question} [y/N] `, { signal })).trim())
  } finally {
    lines.close()
  }
}
