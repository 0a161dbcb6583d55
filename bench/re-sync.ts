import { hash } from 'node:crypto'
import { syncInventory } from '#src/inventory/sync.ts'
import { canonicalAlertRule, fingerprint } from '#src/model/fingerprint.ts'
import type { RunCounts } from '#src/model/run.ts'
import { AlertRulesData, SuccessEnvelope } from '#src/platform/contract.ts'
import { parseLossless } from '#src/platform/lossless-json.ts'
import { readRows } from '#src/platform/read-rows.ts'
import { ALERT_RULES } from '#src/platform/row-kinds.ts'
import { rulesFetcher } from './support/fetch-rules.ts'
import { atMost, median } from './support/figures.ts'
import { type Bench, NEVER, settingsFor } from './support/lab.ts'
import { timed, walOf } from './support/measure.ts'

/**
 * What it costs to find that nothing, or little, has changed: the time against what reading the same body takes, by
 * Ferry's own functions, and what is written ahead for it.
 */
export const reSync: Bench = async lab => {
  const rules = lab.size(100_000, 5_000)
  const sandbox = await lab.openSandbox({ rules, hugeIds: 0 })
  const databaseUrl = await lab.openDatabase()
  const ferry = await lab.openFerry(settingsFor(databaseUrl, sandbox))
  const client = await lab.connect(databaseUrl)
  const fetchRules = rulesFetcher(lab, sandbox)
  const sync = async (expected: Partial<RunCounts>) => {
    const request = { account: 'default', resource: 'alert-rules', trigger: 'manual' } as const
    const run = await syncInventory(ferry, request, NEVER)
    for (const [name, count] of Object.entries(expected)) {
      const found = run[name as keyof RunCounts]
      if (found !== count) throw new Error(`${found} rows ${name}, not ${count}: ${run.message}`)
    }
  }
  const settle = async () => {
    await fetchRules() // the sandbox makes and packs the body once
    // What autovacuum does within a minute or so, marking rows as seen by all; here not while something is measured.
    await client.query('vacuum (analyze)')
  }
  await sync({ added: rules })

  const reordered = { ms: [] as number[], floorMs: [] as number[], walMb: [] as number[] }
  const identical = { ms: [] as number[], floorMs: [] as number[] }
  for (let round = 1; round <= lab.size(5, 1); round++) {
    await sandbox.admin('reorder', { seed: round })
    await settle()
    const wal = await walOf(client, async () => {
      reordered.ms.push(await timed(() => sync({ unchanged: rules })))
    })
    reordered.walMb.push(wal)
    reordered.floorMs.push(await timed(async () => readAndHash(await fetchRules())))
    identical.ms.push(await timed(() => sync({ unchanged: rules })))
    identical.floorMs.push(await timed(async () => hash('sha256', await fetchRules())))
  }

  const changed = { ms: [] as number[], walMb: [] as number[] }
  for (let round = 1; round <= lab.size(3, 1); round++) {
    await sandbox.admin('mutate', { count: rules / 100, mix: ['rule-changed'] })
    await settle()
    const wal = await walOf(client, async () => {
      changed.ms.push(await timed(() => sync({ changed: rules / 100 })))
    })
    changed.walMb.push(wal)
  }
  return [
    {
      measure: `re-sync of ${rules} rules, unchanged, another order`,
      value: median(reordered.ms) / 1000,
      floor: median(reordered.floorMs) / 1000,
      rounds: reordered,
      unit: 's',
      wanted: atMost(1.3),
    },
    {
      measure: 'WAL of it, after a checkpoint',
      value: Math.max(...reordered.walMb),
      unit: 'MB',
      wanted: atMost(1),
    },
    {
      measure: `re-sync of ${rules} rules, identical body`,
      value: median(identical.ms) / 1000,
      floor: median(identical.floorMs) / 1000,
      rounds: identical,
      unit: 's',
      wanted: atMost(1.3),
    },
    {
      measure: `re-sync of ${rules} rules, 1 % changed`,
      value: median(changed.ms) / 1000,
      rounds: changed,
      unit: 's',
    },
    {
      measure: 'WAL of it, after a checkpoint',
      value: Math.max(...changed.walMb),
      unit: 'MB',
      wanted: atMost(15),
    },
  ]
}

/** Parse, zod, hash: what nobody who wants to know whether a row has changed can leave out. */
function readAndHash(body: Buffer): number {
  const envelope = parseLossless(body.toString('utf8'))
  SuccessEnvelope.parse(envelope)
  const delivered = AlertRulesData.parse((envelope as { data: unknown }).data)
  const { rows } = readRows(ALERT_RULES, delivered, false)
  return rows.map(row => fingerprint(canonicalAlertRule(row))).length
}
