import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inTransaction } from '#src/db/pool.ts'
import { listBatches } from '#src/imports/reporting/batches.ts'
import { listSummaryRows } from '#src/imports/reporting/summary.ts'
import { workImport } from '#src/imports/sending/work.ts'
import { takeSnapshot } from '#src/inventory/history/snapshots.ts'
import { SANDBOX_PAGE_ID } from '#src/sandbox/state.ts'
import type { FerryHarness } from '#test/support/ferry-harness.ts'
import { type StagedImport, stageRows } from '#test/support/staged.ts'

const NEVER = new AbortController().signal

type Values = Readonly<Record<string, string>>
type Need = (harness: FerryHarness, home: string) => Values | Promise<Values>

/**
 * What the placeholders of a command stand for, by its first words: what earlier commands of the page made, or else what
 * is made now. Numbers and dates that a page shows as an example are placeholders too.
 */
const NEEDS: Readonly<Record<string, Need>> = {
  COMMAND: () => ({ COMMAND: 'import' }),
  sync: async harness => ({ A: 'default', N: `${(await syncedRule(harness)).folder_id}` }),
  changes: async harness => {
    const { id, updater_name } = await syncedRule(harness)
    return { A: 'default', ID: `${id}`, NAME: `'${updater_name}'` }
  },
  report: async harness => {
    await snapshot(harness)
    const { rows } = await harness.ferry.pool.query<{ night: string }>(
      'select night::text from ferry.nights()',
    )
    return { NAME: 'nights', A: 'default', '2026-11-20': rows[0]?.night ?? '' }
  },
  at: async harness => ({
    TIME: '1m',
    N: `${(await syncedRule(harness)).folder_id}`,
    T: 'core',
    WORDS: 'latency',
  }),
  audit: () => ({ A: 'default', NAME: 'ada' }),
  freshness: async harness => {
    await takeSnapshot(harness.ferry, { account: 'default', trigger: 'manual' }, NEVER)
    return { A: 'default' }
  },
  rules: async harness => ({ ID: `${(await syncedRule(harness)).id}`, T: new Date().toISOString() }),
  servers: async harness => {
    await harness.sync({ resource: 'mcp-servers' })
    return { ID: `${harness.sandbox.state.servers.ids()[0]}`, T: new Date().toISOString() }
  },
  'runs show': async harness => ({ ID: `${(await harness.sync()).run}` }),
  'runs approve': async harness => ({ ID: await heldRun(harness) }),
  'runs reject': async harness => ({ ID: await heldRun(harness) }),
  'snapshots diff': async harness => ({ A: await snapshot(harness), B: await snapshot(harness) }),
  schedules: () => ({ NAME: 'prune' }),
  import: (_, home) => ({
    FILE: peopleIn(home),
    ID: `${SANDBOX_PAGE_ID}`,
    PRODUCT: 'platform',
    '…': '--default-locale en-US',
  }),
  'imports pause': async harness => ({ ID: await importThatIs('queued', harness) }),
  'imports cancel': async harness => ({ ID: await importThatIs('queued', harness) }),
  'imports resume': async harness => ({ ID: await importThatIs('paused', harness) }),
  'imports resolve': async harness => {
    const ID = await importThatIs('undecided', harness)
    const [batch] = await inTransaction(harness.ferry.pool, client => listBatches(client, BigInt(ID)))
    return { ID, '7': ID, '17': `${batch?.id}` }
  },
  imports: async (harness, home) => ({
    ID: await importThatIs('completed', harness),
    FILE: join(home, `rejects-${++files}.csv`),
  }),
}

/** The values of a line's placeholders; none if it is no command of Ferry's. */
export async function valuesFor(line: string, harness: FerryHarness, home: string): Promise<Values> {
  const [, first = '', second = ''] = /\bferry (\S+)(?: (\S+))?/.exec(line) ?? []
  const need = NEEDS[`${first} ${second}`] ?? NEEDS[first]
  return need ? need(harness, home) : {}
}

let files = 0
let people = 0

/** A file of people whom nobody has imported yet. */
function peopleIn(home: string): string {
  const path = join(home, `people-${++files}.csv`)
  const rows = Array.from({ length: 8 }, () => `person${++people}@example.com,true,en-US\n`)
  writeFileSync(path, `recipient,all,locale\n${rows.join('')}`)
  return path
}

async function syncedRule({ sync, sandbox: { state } }: FerryHarness) {
  if (state.rules.ids().length === 0) state.addSamples({ rules: 12 })
  await sync()
  return state.rules.get(state.rules.ids()[0] ?? 0n)
}

/** A run that holds the removal of all rules. */
async function heldRun(harness: FerryHarness): Promise<string> {
  await syncedRule(harness)
  for (const id of harness.sandbox.state.rules.ids()) harness.sandbox.state.removeRule(id)
  return `${(await harness.sync()).run}`
}

async function snapshot({ ferry }: FerryHarness): Promise<string> {
  return `${(await takeSnapshot(ferry, { account: 'default', trigger: 'manual' }, NEVER)).snapshot}`
}

const STAGED: Readonly<Record<'queued' | 'paused' | 'undecided' | 'completed', StagedImport>> = {
  queued: {},
  paused: { firstRows: 5 },
  undecided: { rows: 2, batchRows: 1, onUncertain: 'hold' },
  completed: {},
}

/** The newest import of this status, after a worker would have done what is queued; if there is none, a new one. */
async function importThatIs(status: keyof typeof STAGED, harness: FerryHarness): Promise<string> {
  if (status !== 'queued') await workAll(harness)
  const [found] = await listSummaryRows(harness.ferry.pool, 1, { status })
  if (found) return found.id
  const recipient = () => `person${++people}@example.com`
  const id = await stageRows(harness.ferry.pool, { ...STAGED[status], recipient })
  if (status === 'undecided')
    harness.sandbox.state.inject({ kind: 'drop' }, { operation: 'import-subscribers' })
  if (status !== 'queued') await workAll(harness)
  harness.sandbox.state.clearFaults()
  return `${id}`
}

async function workAll({ ferry }: FerryHarness): Promise<void> {
  const queued = await listSummaryRows(ferry.pool, 100, { status: 'queued' })
  for (const { id } of queued.toReversed()) await workImport(ferry, BigInt(id), { signal: NEVER })
}
