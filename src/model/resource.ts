/** The inventories Ferry syncs. The names are those of the command line, the ledger and the reports. */
export const RESOURCES = ['alert-rules', 'mcp-servers'] as const

export type Resource = (typeof RESOURCES)[number]

/** One inventory of one account: what one run syncs and one lease protects. */
export type Inventory = { readonly account: string; readonly resource: Resource }
