/** The inventories Ferry carries. The names are those of the command line, the ledger and the reports. */
export const RESOURCES = ['alert-rules', 'mcp-servers'] as const

export type Resource = (typeof RESOURCES)[number]
