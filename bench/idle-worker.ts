import { setTimeout as delay } from 'node:timers/promises'
import { atMost } from './support/figures.ts'
import { type Bench, settingsFor } from './support/lab.ts'
import { residentMb } from './support/measure.ts'
import { openWorkerProcess } from './support/worker-process.ts'

/** What a worker takes of the memory once it has done what was due and waits for its next schedule. */
export const idleWorker: Bench = async lab => {
  const sandbox = await lab.openSandbox({})
  const worker = await openWorkerProcess(lab, settingsFor(await lab.openDatabase(), sandbox))
  await Promise.race([delay(lab.size(20_000, 3_000)), worker.ended])
  const value = await residentMb(worker.pid)
  return [{ measure: 'an idle worker, resident', value, unit: 'MB', wanted: atMost(150) }]
}
