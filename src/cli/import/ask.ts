import { once } from 'node:events'
import { createInterface } from 'node:readline/promises'

/** Whether a person can be asked: there is a terminal, and stdin is not the file at `path`. */
export function canAsk(path?: string): boolean {
  return path !== '-' && Boolean(process.stdin.isTTY) && Boolean(process.stderr.isTTY)
}

/** Asks on stderr. Returns true only for `y` or `yes`; whoever ends the input (Ctrl-D) says no. */
export async function ask(question: string, signal: AbortSignal): Promise<boolean> {
  // Not in terminal mode: in it readline would handle Ctrl-C itself.
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: false })
  const ended = once(lines, 'close').then(() => null)
  try {
    const answer = await Promise.race([lines.question(`${question} [y/N] `, { signal }), ended])
    if (answer === null) process.stderr.write('\n')
    return /^y(es)?$/i.test(answer?.trim() ?? '')
  } finally {
    lines.close()
  }
}
