import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { FERRY } from './support/ferry-path.ts'
import { atMost, median } from './support/figures.ts'
import type { Bench, Lab } from './support/lab.ts'

const run = promisify(execFile)

/** How soon the command line answers one who only asks what it can do. */
export const help: Bench = async lab => [
  {
    measure: 'ferry --help',
    value: await medianOfRuns(lab, [FERRY, '--help']),
    unit: 'ms',
    wanted: atMost(150),
  },
  { measure: 'node, doing nothing', value: await medianOfRuns(lab, ['--eval', '0']), unit: 'ms' },
]

async function medianOfRuns(lab: Lab, args: readonly string[]): Promise<number> {
  const tookMs: number[] = []
  for (let time = 0; time < lab.size(10, 3); time++) {
    const startedAtMs = performance.now()
    await run(process.execPath, args)
    tookMs.push(performance.now() - startedAtMs)
  }
  return median(tookMs)
}
