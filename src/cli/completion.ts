import { readdirSync } from 'node:fs'
import type { Complete, RootCommand } from '@bomb.sh/tab'
import type { Command } from 'commander'

const NAME = 'completion'

/** The command that the scripts run at each press of the Tab key: `ferry complete -- import --p`. */
const REQUEST = 'complete'

/** Adds the command. Call it last: it completes the commands added before. Its library is loaded only when needed. */
export async function addCompletion(program: Command, argv: readonly string[]): Promise<void> {
  if (argv[2] === NAME || argv[2] === REQUEST) {
    const { default: tab } = await import('@bomb.sh/tab/commander')
    completeFiles(tab(program, { completionCommandName: NAME }), argv.at(-1) ?? '')
    return
  }
  program
    .command(NAME)
    .description('print a script that lets the Tab key complete commands and options')
    .argument('<shell>', 'bash, zsh or fish')
}

/** Completes file names: the library's scripts do not fall back to the shell's own completion. */
function completeFiles(root: RootCommand, word: string): void {
  const command = root.commands.get('import')
  const { options } = command ?? {}
  const takers = [command?.arguments.get('file'), options?.get('components'), options?.get('suppress')]
  for (const taker of takers) if (taker) taker.handler = offer => offerFiles(word, offer)
}

function offerFiles(word: string, offer: Complete): void {
  const directory = word.slice(0, word.lastIndexOf('/') + 1)
  for (const entry of entriesOf(directory || '.')) {
    const path = `${directory}${entry.name}${entry.isDirectory() ? '/' : ''}`
    if (!NEEDS_QUOTES.test(path)) offer(path, '')
  }
}

/** The scripts insert words unquoted, so paths with other characters are not offered. */
const NEEDS_QUOTES = /[^\p{L}\p{N}._/@%+,-]/u

function entriesOf(directory: string) {
  try {
    return readdirSync(directory, { withFileTypes: true })
  } catch {
    return []
  }
}
