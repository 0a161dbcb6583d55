import type { Tool } from '#test/support/versions.ts'

/*
 * Histories that happened: what two accounts had at each moment, and which of these moments Ferry saw. Nothing here knows SQL or
 * how Ferry stores a history.
 */

export const MINUTE_MS = 60_000
export const DAY_MS = 1_440 * MINUTE_MS
const STEP_MS = 5 * MINUTE_MS
const DAYS = 9

export type Definition = {
  readonly name: string
  readonly folder: number
  readonly team: string | null
  readonly enabled: boolean
  readonly debug: boolean
  readonly cron: string
  readonly timezone: string | null
  readonly by: string
}

type Truth = { readonly definition: Definition; readonly createdAtMs: number; readonly isFiring: boolean }

export type Server = {
  readonly name: string
  readonly team: number
  readonly status: string
  readonly url: string
  readonly auth: string
  readonly tools: readonly Tool[]
}

/** What one poll of an account saw; `rules` is null if it failed. */
export type Poll = {
  readonly atMs: number
  readonly status: 'succeeded' | 'failed' | 'partial'
  readonly folders: readonly string[]
  readonly rules: ReadonlyMap<string, Truth> | null
}

export type ServerPoll = { readonly atMs: number; readonly servers: ReadonlyMap<string, Server> }
export type Snapshot = {
  readonly atMs: number
  readonly isScheduled: boolean
  readonly status: 'succeeded' | 'held' | 'partial'
}

export type AccountHistory = {
  readonly account: string
  readonly polls: readonly Poll[]
  readonly serverPolls: readonly ServerPoll[]
  readonly snapshots: readonly Snapshot[]
  readonly targetFolders: readonly string[]
}

/** Names of different lengths: the tests make ids of them. */
export const PEOPLE = ['Bo', 'Ada', 'Joan', 'Grace', 'Noether', 'Margaret']
const CRONS = [
  '* * * * *',
  '*/5 * * * *',
  '0 8 * * *',
  '*/30 8-20 * * 1-5',
  '0 3 */2 * 1',
  '15 2 1 * *',
  '*/20 * * * 6,0',
]
const ZONES = ['Europe/Berlin', 'UTC', null, '', 'CST', 'UTC+8', 'America/New_York', 'Asia/Kolkata']

/** A source of random numbers, the same for the same seed. */
export function randomOf(seed: number) {
  let state = seed * 2_654_435_761
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  return {
    isLucky: (chance: number) => next() < chance,
    pick: <T>(values: readonly T[]): T => values[Math.floor(next() * values.length)] as T,
    below: (bound: number) => Math.floor(next() * bound),
  }
}
type Random = ReturnType<typeof randomOf>

export function historyOf(account: string, seed: number, nowMs: number): AccountHistory {
  const random = randomOf(seed)
  const beginsMs = Math.floor(nowMs / STEP_MS) * STEP_MS - DAYS * DAY_MS
  const isInFolders = account === 'b'
  const polls: Poll[] = []
  let truth = new Map<string, Truth>()
  // Ids are shared by the accounts. Each rule has its own temper.
  const ids = Array.from({ length: 14 }, (_, n) => `${n + 1}`)
  const fires = new Map(ids.map(id => [id, random.pick([0, 0, 0.004, 0.02])]))
  for (const id of ids) {
    if (random.isLucky(0.7))
      truth.set(id, { ...born(random, id, beginsMs - DAY_MS), isFiring: random.isLucky(0.4) })
  }
  let blindSteps = 0
  for (let atMs = beginsMs; atMs < nowMs; atMs += STEP_MS) {
    truth = new Map(
      ids.flatMap(id => {
        const next = stepOf(random, id, truth.get(id), atMs, fires.get(id) ?? 0)
        return next ? [[id, next] as const] : []
      }),
    )
    if (blindSteps === 0 && random.isLucky(0.005)) blindSteps = 1 + random.below(40)
    else if (blindSteps > 0) blindSteps -= 1
    const isSeen = blindSteps === 0
    polls.push({
      atMs,
      status: isSeen ? 'succeeded' : random.pick(['failed', 'partial']),
      folders: isInFolders && random.isLucky(0.6) ? ['1', '2'] : ['0'],
      rules: isSeen ? truth : null,
    })
  }
  return {
    account,
    polls,
    serverPolls: serverPollsOf(random, beginsMs, nowMs),
    snapshots: snapshotsOf(random, polls),
    targetFolders: isInFolders ? ['1', '2'] : ['0'],
  }
}

function born(random: Random, id: string, createdAtMs: number): Omit<Truth, 'isFiring'> {
  const definition = {
    name: `rule ${id}`,
    folder: 1 + random.below(2),
    team: random.pick(['payments', 'search', null]),
    enabled: random.isLucky(0.75),
    debug: random.isLucky(0.2),
    cron: random.pick(CRONS),
    timezone: random.pick(ZONES),
    by: random.pick(PEOPLE),
  }
  return { definition, createdAtMs }
}

function stepOf(
  random: Random,
  id: string,
  before: Truth | undefined,
  atMs: number,
  firesMore: number,
): Truth | null {
  if (!before) {
    if (!random.isLucky(0.001)) return null
    // Made just now, or long ago where the key could not see it.
    const createdAtMs = random.isLucky(0.6) ? atMs - 1 : atMs - 90 * DAY_MS
    return { ...born(random, id, createdAtMs), isFiring: random.isLucky(0.3) }
  }
  if (random.isLucky(0.0006)) return null
  const isFiring = before.isFiring ? !random.isLucky(0.12) : random.isLucky(firesMore)
  if (!random.isLucky(0.003)) return { ...before, isFiring }
  const by = random.pick(PEOPLE)
  const more: Partial<Definition> = random.pick([
    { enabled: !before.definition.enabled },
    { debug: !before.definition.debug },
    { folder: 3 - before.definition.folder },
    { name: `rule ${id} ${random.below(100)}` },
    { cron: random.pick(CRONS), team: random.pick(['payments', null]) },
    {},
  ])
  return { ...before, isFiring, definition: { ...before.definition, by, ...more } }
}

const TOOLS: readonly Tool[] = [
  { name: 'delete_branch', description: 'Deletes' },
  { name: 'getIssue', description: 'Reads' },
  { name: 'getIssue', description: 'Reads \u200Balso' },
  { name: 'update-page', description: 'Writes' },
  { name: 'undeleted', description: 'Lists' },
]

function serverPollsOf(random: Random, beginsMs: number, nowMs: number): ServerPoll[] {
  const polls: ServerPoll[] = []
  let servers = new Map<string, Server>()
  for (let atMs = beginsMs + 210 * MINUTE_MS; atMs < nowMs; atMs += DAY_MS / 2) {
    servers = new Map(servers)
    for (const id of ['s1', 's2', 's3', 's4']) {
      if (polls.length === 0 || random.isLucky(0.3)) {
        if (random.isLucky(0.25)) servers.delete(id)
        else servers.set(id, newServer(random, id, polls.length))
      }
    }
    polls.push({ atMs, servers })
  }
  return polls
}

function newServer(random: Random, id: string, poll: number): Server {
  return {
    // A name of its own for each content: the fingerprints of the tests are made of it.
    name: random.isLucky(0.2) ? `twin ${poll}` : `${id} ${poll}`,
    team: random.below(2),
    status: random.pick(['enabled', 'disabled']),
    url: random.pick(['https://a', 'http://b']),
    auth: random.pick(['shared', 'own']),
    tools: TOOLS.filter(() => random.isLucky(0.5)).map(tool =>
      random.isLucky(0.3) ? { ...tool, description: `${tool.description} ${poll}` } : tool,
    ),
  }
}

function snapshotsOf(random: Random, polls: readonly Poll[]): Snapshot[] {
  const nights = new Map<number, Snapshot>()
  for (const { atMs, rules } of polls) {
    const day = Math.floor(atMs / DAY_MS)
    if (!rules || nights.has(day) || atMs % DAY_MS < 210 * MINUTE_MS) continue
    if (random.isLucky(0.25)) {
      nights.set(day, {
        atMs,
        isScheduled: random.isLucky(0.8),
        status: random.pick(['succeeded', 'held', 'partial']),
      })
    } else if (random.isLucky(0.02)) nights.set(day, { atMs, isScheduled: false, status: 'succeeded' })
  }
  return [...nights.values()].filter(() => random.isLucky(0.8))
}
