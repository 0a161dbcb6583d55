import type { Resource } from '#src/model/resource.ts'
import type { SandboxState } from '#src/sandbox/state.ts'

/** What a rule or server is at a moment; every edit has a revision of its own, and so has every row that is added. */
export type TrueRow = {
  readonly folder: string
  readonly revision: number
  readonly enabled: boolean
  readonly firing: boolean
  /** It is delivered in a form that cannot be read. */
  readonly broken: boolean
  readonly tools: readonly string[]
}
export type Truth = ReadonlyMap<string, TrueRow>

export type Platform = {
  /** When a row really changed, in microseconds: not later than this. */
  readonly log: readonly { readonly resource: Resource; readonly id: string; readonly at: bigint }[]
  /** Makes the change of this number to the sandbox. */
  change(number: number, at: bigint): void
  truthOf(resource: Resource): Truth
}

const MAX_ROWS = 9

/** Changes the sandbox, and remembers what it is and when it became so. */
export function platformOf(state: SandboxState): Platform {
  const log: { resource: Resource; id: string; at: bigint }[] = []
  const rows: Record<Resource, Map<string, TrueRow>> = { 'alert-rules': new Map(), 'mcp-servers': new Map() }
  const gone: Record<Resource, string[]> = { 'alert-rules': [], 'mcp-servers': [] }
  let ids = 0
  let revisions = 0
  const write = (resource: Resource, id: string, row: TrueRow) => {
    const isNew = !rows[resource].has(id)
    rows[resource].set(id, row)
    if (resource === 'mcp-servers') {
      const tools = row.tools.map(name => ({ name, description: 'does it' }))
      const fields = { server_name: `server ${row.revision}`, tools, tool_count: BigInt(tools.length) }
      if (isNew) state.addServer({ ...fields, server_id: id })
      else state.changeServer(id, fields)
      return
    }
    const fields = {
      folder_id: BigInt(row.folder),
      name: `rule ${row.revision}`,
      enabled: row.broken ? ('no' as unknown as boolean) : row.enabled,
      triggered: row.firing,
    }
    // Every other one says that it was created just now.
    const created = Number(id) % 2 === 0 ? { created_at: BigInt(Math.floor(Date.now() / 1000)) } : {}
    if (isNew) state.addRule({ ...fields, ...created, id: BigInt(id) })
    else state.changeRule(BigInt(id), fields)
  }
  const fresh = (folder: string): TrueRow => ({
    folder,
    revision: ++revisions,
    enabled: true,
    firing: false,
    broken: false,
    tools: ['ping'],
  })

  return {
    log,
    truthOf: resource => new Map(rows[resource]),
    change(number, at) {
      const resource: Resource = number % 4 === 3 ? 'mcp-servers' : 'alert-rules'
      const all = [...rows[resource]]
      // A server is in no folder.
      const folder = resource === 'mcp-servers' ? '0' : `${1 + ((number >> 3) % 2)}`
      const [id, row] = all[(number >> 4) % Math.max(all.length, 1)] ?? []
      const kind = (number >> 9) % 10
      const touch = (one: string) => log.push({ resource, id: one, at })
      if (id === undefined || row === undefined || (kind < 2 && all.length < MAX_ROWS)) {
        const back = kind === 0 || resource === 'mcp-servers' ? gone[resource].shift() : undefined
        const added = back ?? `${++ids + 100}`
        touch(added)
        write(resource, added, fresh(folder))
        return
      }
      touch(id)
      if (kind === 2 || (kind > 7 && resource === 'mcp-servers')) {
        gone[resource].push(id)
        rows[resource].delete(id)
        if (resource === 'alert-rules') state.removeRule(BigInt(id))
        else state.removeServer(id)
      } else if (resource === 'mcp-servers') {
        const tools =
          kind < 5 ? [...row.tools, `tool ${row.revision}`] : kind < 7 ? row.tools.slice(1) : row.tools
        write(resource, id, { ...row, tools, revision: ++revisions })
      } else if (kind < 5) write(resource, id, { ...row, firing: !row.firing })
      else if (kind < 7) write(resource, id, { ...row, enabled: !row.enabled })
      else if (kind === 7) write(resource, id, { ...row, broken: !row.broken })
      else if (kind === 8) write(resource, id, { ...row, folder, revision: ++revisions })
      else write(resource, id, { ...row, revision: ++revisions })
    },
  }
}
