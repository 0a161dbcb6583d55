import type { AlertRule } from '#src/model/alert-rule.ts'
import type { McpServer } from '#src/model/mcp-server.ts'
import { person } from './people.ts'
import { pick, type Random } from './random.ts'
import { SAMPLE_NOW_S } from './sample-rules.ts'
import type { SandboxState } from './state.ts'

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

/** A working day's mix: mostly edits and alerts that come and go, few arrivals, fewer departures. */
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
 * Does `count` things to the data, going round `mix`, and says how many of each were done.
 *
 * No row is touched twice; when none is left untouched, what would need one is left undone.
 * `round` tells one day from the next: it moves the clock that `updated_at` shows.
 */
export function mutate(
  state: SandboxState,
  random: Random,
  round: number,
  count: number,
  mix: readonly Mutation[],
): Mutated {
  const nowS = SAMPLE_NOW_S + round * HOUR_S
  const drawRule = drawer(random, state.rules.ids())
  const drawServer = drawer(random, state.servers.ids())
  const acts: Record<Mutation, () => boolean> = {
    'rule-added': () => did(() => state.addRule({ created_at: BigInt(nowS), updated_at: BigInt(nowS) })),
    'rule-changed': () =>
      on(drawRule(), id => state.changeRule(id, ruleEdit(state.rules.get(id), random, nowS))),
    'rule-fired': () =>
      on(drawRule(), id => state.changeRule(id, { triggered: !state.rules.get(id).triggered })),
    'rule-removed': () => on(drawRule(), id => state.removeRule(id)),
    'server-added': () => did(() => state.addServer({ created_at: ms(nowS), updated_at: ms(nowS) })),
    'server-changed': () =>
      on(drawServer(), id => state.changeServer(id, serverEdit(state.servers.get(id), random, nowS))),
    'server-removed': () => on(drawServer(), id => state.removeServer(id)),
  }
  const done = Object.fromEntries(MUTATIONS.map(kind => [kind, 0])) as Record<Mutation, number>
  for (let index = 0; index < count; index++) {
    const kind = mix[index % mix.length] as Mutation
    if (acts[kind]()) done[kind]++
  }
  return done
}

/** Draws ids in a random order, each once, then undefined. */
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

/** An edit as people make them, always to something else than it was. */
function ruleEdit(rule: AlertRule, random: Random, nowS: number): Partial<AlertRule> {
  const updater = person(random)
  const edit = pick<Partial<AlertRule>>(random, [
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

function serverEdit(server: McpServer, random: Random, nowS: number): Partial<McpServer> {
  const tools = [
    ...(server.tools ?? []),
    { name: `health_check_${server.tools?.length ?? 0}`, description: 'Is it well?' },
  ]
  const edit = pick<Partial<McpServer>>(random, [
    { status: server.status === 'enabled' ? 'disabled' : 'enabled' },
    { call_timeout: (server.call_timeout ?? 0n) + 30n },
    { tools, tool_count: BigInt(tools.length) },
  ])
  return { ...edit, updated_at: ms(nowS) }
}

function ms(seconds: number): bigint {
  return BigInt(seconds) * 1_000n
}
