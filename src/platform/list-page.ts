import { readAnswer } from './answer.ts'
import { AnswerTooLarge, MAX_SERVERS, TOO_MUCH } from './answer-size.ts'
import { mayNeedCleaning } from './clean-text.ts'
import { McpPageData } from './contract.ts'
import { readWhole } from './read-body.ts'
import { mayBeListing } from './read-listing.ts'
import { parseExactly, TOO_LONG } from './read-rows.ts'
import { jsonBytes, type PlatformRequest } from './request.ts'
import { RowScanner } from './row-scanner.ts'

export type McpPageAsk = { readonly page: number; readonly limit: number; readonly includeAccount: boolean }

export type McpPage = {
  readonly total: number
  /** Rows as they came; `TOO_LONG` for one that was not parsed. */
  readonly servers: readonly unknown[]
  /** Whether text in `servers` may need cleaning. */
  readonly mayBeDirty: boolean
}

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
}: McpPageAsk): PlatformRequest<ScannedPage, McpPage> {
  return {
    operation: 'list-mcp-servers',
    body: jsonBytes({ p: page, limit, include_account: includeAccount }),
    receive: async (head, chunks) =>
      mayBeListing(head)
        ? readPage(chunks)
        : { servers: [], mayBeDirty: false, around: await readWhole(chunks), damage: null },
    read(answer, scrub) {
      const { around, damage, servers, mayBeDirty } = answer.body
      const verdict = readAnswer({ ...answer, body: around }, McpPageData, scrub, damage)
      if (!verdict.ok) return verdict
      const { total, servers: rows } = verdict.data
      return { ...verdict, data: { total, servers: rows === null ? [] : servers, mayBeDirty } }
    },
  }
}

/** Reads the rows of a page one by one, so that each has the bound of a row. */
async function readPage(chunks: AsyncIterable<Buffer>): Promise<ScannedPage> {
  let servers: unknown[] = []
  let mayBeDirty = false
  const scanner = new RowScanner(['data', 'servers'], {
    restart() {
      servers = []
    },
    row(text) {
      if (servers.length === MAX_SERVERS) throw new AnswerTooLarge(TOO_MUCH.servers)
      const json = text?.toString('utf8')
      try {
        servers.push(json === undefined ? TOO_LONG : parseExactly(json))
      } catch {
        return false
      }
      mayBeDirty ||= json !== undefined && mayNeedCleaning(json)
      return true
    },
  })
  for await (const chunk of chunks) if (!scanner.write(chunk)) break
  return { servers, mayBeDirty, around: scanner.end(), damage: scanner.damage() }
}
