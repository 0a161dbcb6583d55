import type { Page } from '../page.ts'
import { changes } from './mcp-changes.ts'
import { risks } from './mcp-risks.ts'
import { servers } from './mcp-servers.ts'
import { teams } from './mcp-teams.ts'
import { tools } from './mcp-tools.ts'

/** MCP servers: what there is, what changed in their tools, and what could be a risk. */
export const MCP_PAGES: readonly Page[] = [servers, tools, changes, risks, teams]
