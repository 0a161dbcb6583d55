import { expect, test } from 'vitest'
import { wireJson } from '#src/sandbox/json.ts'
import { MUTATIONS } from '#src/sandbox/mutate.ts'
import { DEFAULT_OPTIONS } from '#src/sandbox/options.ts'
import { SandboxState } from '#src/sandbox/state.ts'

const UINT64_MAX = 2n ** 64n - 1n
const YEAR_MS = 366 * 86_400_000

function state(options: Partial<typeof DEFAULT_OPTIONS> = {}): SandboxState {
  return new SandboxState({ ...DEFAULT_OPTIONS, ...options })
}

test('the same seed gives the same rules and servers, another seed others', () => {
  const all = (made: SandboxState) => wireJson([made.rules.rows(), made.servers.rows()])
  expect(all(state({ seed: 7 }))).toBe(all(state({ seed: 7 })))
  expect(all(state({ seed: 7 }))).not.toBe(all(state({ seed: 8 })))
})

test('20,000 rules have as many names and ids, in the folders asked for', () => {
  const made = state({ rules: 20_000, folders: 4 })
  const rules = made.rules.rows()
  expect(new Set(rules.map(rule => rule.name)).size).toBe(20_000)
  expect(new Set(rules.map(rule => rule.id)).size).toBe(20_000)
  expect(new Set(rules.map(rule => rule.folder_id))).toEqual(made.folders)
  expect(made.folders.size).toBe(4)
})

test('3,000 servers have as many names and ids', () => {
  const servers = state({ servers: 3_000 }).servers.rows()
  expect(new Set(servers.map(server => server.server_name)).size).toBe(3_000)
  expect(new Set(servers.map(server => server.server_id)).size).toBe(3_000)
})

test('most ids have 13 digits and a few stand at the end of uint64', () => {
  const made = state({ hugeIds: 2 })
  const huge = made.rules.ids().filter(id => String(id).length !== 13)
  expect(huge).toEqual([UINT64_MAX, UINT64_MAX - 1n])
  expect(made.servers.ids()).toContain(String(UINT64_MAX))
  expect(
    state({ hugeIds: 0 })
      .rules.ids()
      .every(id => String(id).length === 13),
  ).toBe(true)
})

test('sample rules keep the contract: five-field crons, IANA zones or none, uint64 ids, no time turned round', () => {
  const zones = new Set([...Intl.supportedValuesOf('timeZone'), 'UTC'])
  for (const rule of state({ rules: 500 }).rules.rows()) {
    expect(rule.cron_pattern.split(' ')).toHaveLength(5)
    expect(rule.timezone === null || zones.has(rule.timezone)).toBe(true)
    expect(rule.updated_at).toBeGreaterThanOrEqual(rule.created_at)
    expect(rule.id <= UINT64_MAX).toBe(true)
  }
})

test('sample servers were created within a year, and changed within a year of it, no time turned round', () => {
  const servers = state({ servers: 500 }).servers.rows()
  const created = servers.map(server => Number(server.created_at))
  expect(Math.max(...created) - Math.min(...created)).toBeLessThanOrEqual(YEAR_MS)
  for (const [n, { updated_at }] of servers.entries()) {
    const untilChanged = Number(updated_at) - Number(created[n])
    expect(untilChanged).toBeGreaterThanOrEqual(0)
    // If one of them were in seconds, they would be decades apart.
    expect(untilChanged).toBeLessThanOrEqual(YEAR_MS)
  }
})

test('mutating does so many things, each to another row, and the same things for the same seed', () => {
  const [first, second] = [state(), state()]
  const before = new Map(first.rules.rows().map(rule => [rule.id, wireJson(rule)]))
  const done = first.mutate(12)
  expect(second.mutate(12)).toEqual(done)
  expect(wireJson(second.rules.rows())).toBe(wireJson(first.rules.rows()))
  expect(Object.values(done).reduce((sum, each) => sum + each)).toBe(12)
  for (const kind of MUTATIONS) expect(done[kind]).toBeGreaterThan(0)

  const touched = first.rules
    .rows()
    .filter(rule => before.has(rule.id) && before.get(rule.id) !== wireJson(rule))
  expect(touched).toHaveLength(done['rule-changed'] + done['rule-fired'])
  expect(first.rules.size).toBe(before.size + done['rule-added'] - done['rule-removed'])
})

test('a changed rule differs in its definition, a fired one only in being triggered', () => {
  const made = state({ rules: 200 })
  const before = new Map(made.rules.rows().map(rule => [rule.id, rule]))
  made.mutate(40, ['rule-changed', 'rule-fired'])
  const kinds = made.rules.rows().flatMap(rule => {
    const was = before.get(rule.id)!
    if (wireJson(was) === wireJson(rule)) return []
    const definition = ({ triggered: _, ...rest }: typeof rule) => wireJson(rest)
    return definition(was) === definition(rule)
      ? ['fired']
      : [was.triggered === rule.triggered ? 'changed' : 'both']
  })
  expect(kinds.filter(kind => kind === 'changed')).toHaveLength(20)
  expect(kinds.filter(kind => kind === 'fired')).toHaveLength(20)
})

test('mutating does no more than there are rows to do it to', () => {
  const made = state({ rules: 3, servers: 0 })
  expect(made.mutate(10, ['rule-removed'])).toMatchObject({ 'rule-removed': 3 })
  expect(made.rules.size).toBe(0)
})

test('a change to a row that is not there, or that would take its id, is an error', () => {
  const made = state()
  const { id } = made.addRule()
  expect(() => made.addRule({ id })).toThrow(`already has a row ${id}`)
  expect(() => made.changeRule(id, { id: 1n })).toThrow('cannot turn')
  made.removeRule(id)
  expect(() => made.changeRule(id, { name: 'x' })).toThrow(`no row ${id}`)
  expect(() => made.removeRule(id)).toThrow(`no row ${id}`)
})
