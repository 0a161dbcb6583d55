import type { Pool } from 'pg'
import type { InventoryContext } from '#src/inventory/context.ts'
import type { Limit } from '#src/model/limit.ts'
import type { NotifySettings } from '#src/model/settings.ts'
import type { Schedule } from '#src/schedules/definition.ts'
import type { Readiness } from '../readiness.ts'
import type { Approvals } from './approvals.ts'

/** What the console shows, and what it decides with. */
export type ConsoleTarget = {
  /** Reads with the rights of the reader role, two seconds a statement. */
  readonly reader: Pool
  /**
   * Reads everything, people too, two seconds a statement. Only for pages and actions of those who may operate, and for the
   * state of a limit, whose key the reader role may not see.
   */
  readonly personal: Pool
  /** Writes: for decisions. */
  readonly pool: Pool
  readonly inventory: InventoryContext
  readonly accounts: readonly string[]
  readonly schedules: readonly Schedule[]
  readonly limits: readonly { readonly account: string; readonly operation: string; readonly limit: Limit }[]
  /** In which times are shown until the reader's browser says otherwise. */
  readonly timezone: string
  /** The pattern of the address of a rule in the platform's own console, or null. */
  readonly platformUrl: string | null
  /** Who is told of which events. */
  readonly notify: Pick<NotifySettings, 'receivers'>
  readonly approvals: Approvals
  readiness(): Promise<Readiness>
  /** Gives back what pages took of the memory, once no more are asked for. */
  collectGarbageLater(): void
  /** Ends when the worker stops. */
  readonly signal: AbortSignal
}
