import type { OnUncertain } from '#src/model/import.ts'
import type { PresetName } from './presets/presets.ts'

/** How a file is read, and how its rows are to be sent. */
export type ImportOptions = {
  readonly account: string
  readonly pageId: bigint
  readonly method: string
  /** Which column of the file holds a field: recipient, all, component_ids, locale, or a status the preset knows. */
  readonly map: Readonly<Record<string, string>>
  /** Accepts addresses that break the rules of e-mail the way some real mailboxes do. */
  readonly lenientAddresses: boolean
  readonly defaultLocale: string | null
  /** From a value in the file to the locale it means: `de` to `de-DE`. */
  readonly mapLocale: Readonly<Record<string, string>>
  /** Rows that name neither all nor components are for all. */
  readonly all: boolean
  readonly from: PresetName | null
  /** Path of a CSV of two columns: the id of a component in the old product, and on the platform. */
  readonly components: string | null
  /** Path of a list of recipients who are not to be imported. */
  readonly suppress: string | null
  readonly batchRows: number
  readonly firstRows: number | null
  readonly onUncertain: OnUncertain
  readonly update: boolean
}
