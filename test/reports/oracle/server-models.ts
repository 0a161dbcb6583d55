import type { Row } from './alert-models.ts'
import type { Seen, Version } from './seen.ts'
import type { Server } from './world.ts'

/* The rows of the reports about MCP servers, from the events, by the words of their COMMENT. */

type Servers = readonly Version<Server>[]

export function tools(servers: Servers): Row[] {
  const all = servers.flatMap(({ account, id, of }) => of.tools.map(tool => ({ account, id, of, tool })))
  return all.map(({ account, id, of, tool }) => [
    account,
    tool.name,
    id,
    of.name,
    tool.description,
    all.filter(one => one.account === account && one.tool.name === tool.name).length,
  ])
}

export function byTeam(servers: Servers): Row[] {
  const groups = Map.groupBy(servers, one => JSON.stringify([one.account, one.of.team]))
  return [...groups].map(([key, of]) => {
    const [account, team] = JSON.parse(key)
    return [
      account,
      BigInt(team),
      of.length,
      of.filter(one => one.of.status === 'enabled').length,
      of.reduce((sum, one) => sum + one.of.tools.length, 0),
      of.filter(one => one.of.auth === 'shared').length,
      new Date(Math.max(...of.map(one => one.fromMs))),
    ]
  })
}

/** The tools that the other server does not have, or has less often. Those of one name are numbered, by their description. */
const othersOf = (server: Server, other: Server) => {
  const left = [...other.tools]
  const others = server.tools.filter(tool => {
    const at = left.findIndex(one => one.name === tool.name && one.description === tool.description)
    if (at >= 0) left.splice(at, 1)
    return at < 0
  })
  const sorted = others.toSorted((a, b) => (`${a.description}` < `${b.description}` ? -1 : 1))
  return new Map(
    sorted.map((tool, n) => [
      `${tool.name} ${sorted.slice(0, n).filter(one => one.name === tool.name).length}`,
      tool,
    ]),
  )
}

export function toolChanges(seen: Seen, sinceMs: number): Row[] {
  return seen.servers.flatMap(now => {
    const before = seen.servers
      .filter(one => one.account === now.account && one.id === now.id && one.fromMs < now.fromMs)
      .toSorted((a, b) => b.fromMs - a.fromMs)[0]
    if (!before || now.fromMs < sinceMs) return []
    const [old, young] = [othersOf(before.of, now.of), othersOf(now.of, before.of)]
    return [...new Set([...old.keys(), ...young.keys()])].map(key => {
      const [was, is] = [old.get(key), young.get(key)]
      const change = !was ? 'added' : !is ? 'removed' : 'description changed'
      const [a, b] = [was?.description ?? null, is?.description ?? null]
      return [now.account, new Date(now.fromMs), now.id, now.of.name, change, (is ?? was)?.name, a, b]
    })
  })
}

const VERBS: Readonly<Record<string, string>> = {
  delete_branch: 'tool deletes',
  'update-page': 'tool writes',
}

export function risks(servers: Servers): Row[] {
  return servers.flatMap(({ account, id, of }) => {
    const row = (reason: string, tool: string | null = null): Row => [account, id, reason, tool]
    const same = servers.filter(one => one.account === account && one.of.name === of.name)
    const names = (has: (tool: (typeof of.tools)[number]) => boolean) => [
      ...new Set(of.tools.filter(has).map(({ name }) => name)),
    ]
    const isTwice = (name: string) => of.tools.filter(one => one.name === name).length > 1
    return [
      ...(of.url.startsWith('https:') ? [] : [row('no https')]),
      ...(of.auth === 'shared' ? [row('shared credentials')] : []),
      ...(of.status === 'disabled' ? [row('disabled but listed')] : []),
      ...(same.length > 1 ? [row('name used twice')] : []),
      ...names(({ name }) => isTwice(name)).map(name => row('tool name used twice', name)),
      ...names(() => true).flatMap(name => (VERBS[name] ? [row(VERBS[name], name)] : [])),
      ...names(({ description }) => !!description?.includes('\u200B')).map(name =>
        row('invisible characters', name),
      ),
    ]
  })
}
