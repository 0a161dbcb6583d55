import { hash } from 'node:crypto'
import type { McpServer } from '#src/model/mcp-server.ts'
import { readAnswer } from './answer.ts'
import { AnswerTooLarge, MAX_SERVERS, TOO_MUCH } from './answer-size.ts'
import { McpPageData } from './contract.ts'
import { readWhole } from './read-body.ts'
import { mayBeListing } from './read-listing.ts'
import { type ParsedRow, parseRow } from './read-rows.ts'
import { jsonBytes, type PlatformRequest } from './request.ts'
import { MCP_SERVERS } from './row-kinds.ts'
import { RowScanner } from './row-scanner.ts'

export type McpPageAsk = {
  readonly page: number
  readonly limit: number
  readonly includeAccount: boolean
  /** What was read before: a row that comes again is not parsed again. What is read now is added. */
  readonly readBefore?: ReadServers
}

/** Rows by the digest of their text. */
export type ReadServers = Map<string, ParsedRow<McpServer>>

export type McpPage = { readonly total: number; readonly servers: readonly ParsedRow<McpServer>[] }

type ScannedPage = Omit<McpPage, 'total'> & {
  readonly around: Buffer
  /** See `RowScanner.damage`. */
  readonly damage: string | null
}

/** Asks for one page of MCP servers. */
export function listPageRequest({
  page,
  limit,
  includeAccount,
  readBefore = new Map(),
}: McpPageAsk): PlatformRequest<ScannedPage, McpPage> {
  return {
    operation: 'list-mcp-servers',
    body: jsonBytes({ p: page, limit, include_account: includeAccount }),
    receive: async (head, chunks) =>
      mayBeListing(head)
        ? readPage(chunks, readBefore)
        : { servers: [], around: await readWhole(chunks), damage: null },
    read(answer, scrub) {
      const { around, damage, servers } = answer.body
      const verdict = readAnswer({ ...answer, body: around }, McpPageData, scrub, damage)
      if (!verdict.ok) return verdict
      const { total, servers: rows } = verdict.data
      return { ...verdict, data: { total, servers: rows === null ? [] : servers } }
    },
  }
}

/** Reads the rows of a page one by one, so that each has the bound of a row. */
async function readPage(chunks: AsyncIterable<Buffer>, readBefore: ReadServers): Promise<ScannedPage> {
  let servers: ParsedRow<McpServer>[] = []
  const scanner = new RowScanner(['data', 'servers'], {
    restart() {
      servers = []
    },
    row(text) {
      if (servers.length === MAX_SERVERS) throw new AnswerTooLarge(TOO_MUCH.servers)
      const digest = hash('sha256', text ?? '', 'latin1')
      const read = readBefore.get(digest) ?? parseRow(MCP_SERVERS, text)
      if (read === null) return false
      readBefore.set(digest, read)
      servers.push(read)
      return true
    },
  })
  for await (const chunk of chunks) if (!scanner.write(chunk)) break
  return { servers, around: scanner.end(), damage: scanner.damage() }
}
