import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ELSEWHERE } from './elsewhere.ts'

/** Not started by any test, whatever their words. */
const NEVER_RUN = ['docker', 'kubectl', 'systemctl']

/** The exit code of such a program for words that the table does not have. */
export const NOT_IN_TABLE = 64

/**
 * Writes a program of each name that `ELSEWHERE` has commands of. Put before the others in PATH, it does what the table says
 * in place of these commands, and leaves any other to the real program.
 */
export function writeStandIns(directory: string): void {
  mkdirSync(directory)
  const programs = Map.groupBy(Object.entries(ELSEWHERE), ([command]) => command.split(' ')[0] ?? '')
  for (const [program, commands] of programs) {
    if (program.includes('/')) continue
    const cases = commands.map(([command, { instead = ':' }]) => {
      const words = command.slice(program.length + 1)
      return `'${words}')\n  ${instead}\n  ;;\n`
    })
    const other = NEVER_RUN.includes(program)
      ? `echo "error: test/docs/elsewhere.ts does not have: ${program} $*" >&2; exit ${NOT_IN_TABLE}`
      : `PATH=\${PATH#*:}; exec ${program} "$@"`
    const script = `#!/usr/bin/env bash\nset -e\ncase "$*" in\n${cases.join('')}*)\n  ${other}\n  ;;\nesac\n`
    writeFileSync(join(directory, program), script, { mode: 0o755 })
  }
}
