import type { AlertRule } from '#src/model/alert-rule.ts'
import type { McpServer } from '#src/model/mcp-server.ts'
import { person } from './people.ts'
import { pick, type Random } from './random.ts'
import type { RowStore } from './row-store.ts'
import { SAMPLE_NOW_S } from './sample-rules.ts'

export const MUTATIONS = [
  'rule-changed',
  'rule-fired',
  'rule-added',
  'server-changed',
  'rule-removed',
  'server-added',
  'server-removed',
] as const

export type Mutation = (typeof MUTATIONS)[number]
export type Mutated = Readonly<Record<Mutation, number>>

/** The rows to change, and the ways to change them. */
export type MutableInventory = {
  readonly rules: Pick<RowStore<bigint, AlertRule<bigint>>, 'ids' | 'get'>
  readonly servers: Pick<RowStore<string, McpServer<bigint>>, 'ids' | 'get'>
  addRule(fields: Partial<AlertRule<bigint>>): void
  changeRule(id: bigint, patch: Partial<AlertRule<bigint>>): void
  removeRule(id: bigint): void
  addServer(fields: Partial<McpServer<bigint>>): void
  changeServer(id: string, patch: Partial<McpServer<bigint>>): void
  removeServer(id: string): void
}

/** The changes of a working day: mostly edits and alerts that start or end, few new rows, fewer removed ones. */
export const WORKING_DAY: readonly Mutation[] = [
  'rule-changed',
  'rule-fired',
  'rule-added',
  'server-changed',
  'rule-changed',
  'rule-removed',
  'rule-fired',
  'rule-changed',
  'server-added',
  'rule-changed',
  'rule-fired',
  'server-removed',
]

const CRONS = ['* * * * *', '*/2 * * * *', '*/5 * * * *', '*/10 * * * *', '0 * * * *'] as const
const HOUR_S = 3_600

/**
 * Makes `count` changes to the rows, in the order of `mix` and round again, and returns how many of each kind were made.
 *
 * One call changes no row twice: once all rows have changed, it skips the changes that need another row.
 * `round` moves the time that `updated_at` shows on by an hour.
 */
export function mutate(
  inventory: MutableInventory,
  random: Random,
  round: number,
  count: number,
  mix: readonly Mutation[],
): Mutated {
  const nowS = SAMPLE_NOW_S + round * HOUR_S
  const drawRule = drawer(random, inventory.rules.ids())
  const drawServer = drawer(random, inventory.servers.ids())
  const acts: Record<Mutation, () => boolean> = {
    'rule-added': () => did(() => inventory.addRule({ created_at: BigInt(nowS), updated_at: BigInt(nowS) })),
    'rule-changed': () =>
      on(drawRule(), id => inventory.changeRule(id, ruleEdit(inventory.rules.get(id), random, nowS))),
    'rule-fired': () =>
      on(drawRule(), id => inventory.changeRule(id, { triggered: !inventory.rules.get(id).triggered })),
    'rule-removed': () => on(drawRule(), id => inventory.removeRule(id)),
    'server-added': () => did(() => inventory.addServer({ created_at: ms(nowS), updated_at: ms(nowS) })),
    'server-changed': () =>
      on(drawServer(), id => inventory.changeServer(id, serverEdit(inventory.servers.get(id), random, nowS))),
    'server-removed': () => on(drawServer(), id => inventory.removeServer(id)),
  }
  const done = Object.fromEntries(MUTATIONS.map(kind => [kind, 0])) as Record<Mutation, number>
  for (let index = 0; index < count; index++) {
    const kind = mix[index % mix.length] as Mutation
    if (acts[kind]()) done[kind]++
  }
  return done
}

/** Returns the ids in a random order, each once, then undefined. */
function drawer<Id>(random: Random, ids: Id[]): () => Id | undefined {
  return () => {
    const index = Math.floor(random() * ids.length)
    const drawn = ids[index]
    const last = ids.pop()
    if (index < ids.length) ids[index] = last as Id
    return drawn
  }
}

function did(act: () => void): boolean {
  act()
  return true
}

function on<Id>(id: Id | undefined, act: (id: Id) => void): boolean {
  return id !== undefined && did(() => act(id))
}

/** An edit as a person would make it. The rule always differs afterwards. */
function ruleEdit(rule: AlertRule<bigint>, random: Random, nowS: number): Partial<AlertRule<bigint>> {
  const updater = person(random)
  const edit = pick<Partial<AlertRule<bigint>>>(random, [
    { enabled: !rule.enabled },
    { delay_seconds: rule.delay_seconds + 30n },
    {
      cron_pattern: pick(
        random,
        CRONS.filter(cron => cron !== rule.cron_pattern),
      ),
    },
    { timezone: rule.timezone === 'UTC' ? 'Europe/Berlin' : 'UTC' },
    { labels: { ...rule.labels, severity: rule.labels?.severity === 'critical' ? 'warning' : 'critical' } },
  ])
  return { ...edit, updater_id: updater.id, updater_name: updater.name, updated_at: BigInt(nowS) }
}

function serverEdit(server: McpServer<bigint>, random: Random, nowS: number): Partial<McpServer<bigint>> {
  const tools = [
    ...(server.tools ?? []),
    { name: `health_check_${server.tools?.length ?? 0}`, description: 'Checks whether the server works' },
  ]
  const edit = pick<Partial<McpServer<bigint>>>(random, [
    { status: server.status === 'enabled' ? 'disabled' : 'enabled' },
    { call_timeout: (server.call_timeout ?? 0n) + 30n },
    { tools, tool_count: BigInt(tools.length) },
  ])
  return { ...edit, updated_at: ms(nowS) }
}

function ms(seconds: number): bigint {
  return BigInt(seconds) * 1_000n
}
