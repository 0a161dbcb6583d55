import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { accountNames, accountSettings } from './support/accounts.ts'
import { rulesFetcher } from './support/fetch-rules.ts'
import { atMost, type Figure, median } from './support/figures.ts'
import { accountOf, type Bench, type Lab } from './support/lab.ts'
import { end, type SandboxProcess } from './support/sandbox-process.ts'
import type { Synced, SyncTask } from './support/sync-child.ts'

const CHILD = fileURLToPath(new URL('support/sync-child.ts', import.meta.url))

/**
 * How large a process becomes that syncs for the first time: one account, four at once, and one with ten times the rules,
 * for which it may take ten times as long. Each is done by a process of its own, started as a worker is.
 */
export const syncMemory: Bench = async lab => {
  const rules = lab.size(100_000, 5_000)
  const sandbox = await openWarmSandbox(lab, rules)
  const many = await openWarmSandbox(lab, 10 * rules)
  const one = () => inOwnProcess(lab, accountOf(sandbox), rules)

  const ones = [await one(), await one()]
  const ten = await inOwnProcess(lab, { ...accountOf(many), FERRY_REQUEST_TIMEOUT: '10m' }, 10 * rules)
  ones.push(await one())
  const four = await inOwnProcess(lab, await accountSettings(lab, sandbox, accountNames(4)), rules)

  const measured = ones.map(({ seconds, residentMb, message }) => {
    if (seconds === null || residentMb === null) throw new Error(`the sync failed: ${message}`)
    return { seconds, residentMb }
  })
  const peaks = measured.map(each => each.residentMb)
  const seconds = measured.map(each => each.seconds)
  return [
    {
      measure: `resident at most, cold sync of ${rules} rules`,
      value: Math.max(...peaks),
      rounds: { peaks },
      unit: 'MB',
      wanted: atMost(220, { must: 300 }),
    },
    {
      measure: `resident at most, four accounts of ${rules} rules at once`,
      ...figureOf(four, 'residentMb'),
      unit: 'MB',
      wanted: atMost(350, { must: 500 }),
    },
    {
      measure: `resident at most, cold sync of ${10 * rules} rules`,
      ...figureOf(ten, 'residentMb'),
      unit: 'MB',
      wanted: atMost(300, { must: 400 }),
    },
    {
      measure: `cold sync of ${10 * rules} rules, against ${rules}`,
      ...figureOf(ten, 'seconds'),
      floor: median(seconds),
      rounds: { seconds },
      unit: 's',
      wanted: atMost(10, { must: 12 }),
    },
  ]
}

/** A sandbox that has made and packed its list once. */
async function openWarmSandbox(lab: Lab, rules: number): Promise<SandboxProcess> {
  const sandbox = await lab.openSandbox({ rules, hugeIds: 0 })
  await rulesFetcher(lab, sandbox).fetchPacked()
  return sandbox
}

async function inOwnProcess(lab: Lab, account: Record<string, string>, rules: number): Promise<Synced> {
  const settings = { DATABASE_URL: await lab.openDatabase(), ...account }
  const task: SyncTask = { settings, rules }
  const child = fork(CHILD, [JSON.stringify(task)], { execArgv: ['--max-semi-space-size=2'] })
  lab.defer(() => end(child))
  const gone = once(child, 'exit').then(([code]): [Synced] => {
    return [{ seconds: null, residentMb: null, message: `the process ended with ${code}` }]
  })
  const [synced] = (await Promise.race([once(child, 'message'), gone])) as [Synced]
  await end(child)
  return synced
}

function figureOf(synced: Synced, name: 'seconds' | 'residentMb'): Pick<Figure, 'value' | 'missing'> {
  return { value: synced[name], ...(synced.message !== '' && { missing: synced.message }) }
}
