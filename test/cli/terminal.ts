import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { COMMON_ENV, FERRY } from './run-ferry.ts'

/** Whether this machine has the `script` of util-linux, which gives a program a terminal. */
export const canOpenTerminal = /util-linux/.test(
  spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout ?? '',
)

type Options = {
  readonly columns?: number
  /** Typed once it asks. */
  readonly input?: string
  /** What is to be done as soon as this is shown. */
  readonly once?: string
  readonly act?: () => Promise<unknown>
}

export type Shown = { readonly code: number | null; readonly shown: string }

/** Runs the command line in a terminal; `shown` is all that the terminal was told to show. */
export async function inTerminal(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  { input = '', columns = 80, once: words = '[y/N]', act = async () => {} }: Options = {},
): Promise<Shown> {
  const command = [process.execPath, FERRY, ...args].map(word => `'${word}'`).join(' ')
  const child = spawn('script', ['-qec', `stty cols ${columns} rows 24; exec ${command}`, '/dev/null'], {
    env: { ...COMMON_ENV, TERM: 'xterm', SHELL: '/bin/sh', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let shown = ''
  let acted: Promise<unknown> | null = null
  child.stdout.setEncoding('utf8').on('data', text => {
    shown += text
    if (acted !== null || !shown.includes(words)) return
    // Not before: the end of what is typed would end the asking.
    acted = act().then(() => input && child.stdin.end(input))
  })
  const [code] = await once(child, 'close')
  await acted
  return { code, shown: shown.replaceAll('\r\n', '\n') }
}

/** What a terminal shows, line by line: without what colours it. */
export function linesOf({ shown }: { shown: string }): string[] {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is to be removed
  return shown.replaceAll(/\u001b\[[\d;]*[mJA]/g, '').split(/[\r\n]+/)
}
