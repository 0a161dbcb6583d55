/** The inventories Ferry syncs. The names are those of the command line, the ledger and the reports. */
export const RESOURCES = ['alert-rules', 'mcp-servers'] as const

export type Resource = (typeof RESOURCES)[number]

/** The words for one row of an inventory, and for several. */
export const NOUNS = { 'alert-rules': 'alert rule', 'mcp-servers': 'MCP server' } as const satisfies Record<
  Resource,
  string
>
export const PLURALS = {
  'alert-rules': 'alert rules',
  'mcp-servers': 'MCP servers',
} as const satisfies Record<Resource, string>

/** One inventory of one account: what one run syncs and one lease protects. */
export type Inventory = { readonly account: string; readonly resource: Resource }
