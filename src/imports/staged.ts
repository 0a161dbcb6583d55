import type { Pool } from 'pg'
import type { ImportSummary, OnUncertain } from '#src/model/import.ts'
import type { PresetName } from './presets/presets.ts'

/** What staging needs of the outside; an `ImportContext` has it. */
export type StagingContext = { readonly pool: Pool }

export type ImportOptions = {
  readonly account: string
  readonly pageId: bigint
  readonly method: string
  /** Which column of the file holds a field: recipient, all, component_ids, locale, or a status the preset knows. */
  readonly map: Readonly<Record<string, string>>
  /** Addresses that break the rules of e-mail as some real mailboxes do are taken. */
  readonly lenientAddresses: boolean
  readonly defaultLocale: string | null
  /** From what the file has for a locale to one: `de` to `de-DE`. */
  readonly mapLocale: Readonly<Record<string, string>>
  /** Rows that say neither all nor components are for all. */
  readonly all: boolean
  readonly from: PresetName | null
  /** Path of a CSV of two columns: a component's id in the old product, and on the platform. */
  readonly components: string | null
  /** Path of a list of recipients who are not to be imported. */
  readonly suppress: string | null
  readonly batchRows: number
  readonly firstRows: number | null
  readonly onUncertain: OnUncertain
  readonly update: boolean
}

export type StagingProgress = {
  /** As they are in the file, compressed or not. */
  readonly bytes: number
  /** Null where nobody knows: stdin. */
  readonly totalBytes: number | null
  readonly rows: number
}

export type Watch = {
  readonly signal: AbortSignal
  onProgress?(progress: StagingProgress): void
}

export type StagedFile = {
  readonly compression: 'none' | 'gzip' | 'zstd'
  readonly format: 'csv' | 'ndjson'
  readonly delimiter: ',' | ';' | '\t' | null
  /** The header of a CSV; null for NDJSON. */
  readonly columns: string[] | null
  /** Field to column. */
  readonly mapped: Record<string, string>
  readonly unused: string[]
}

/** What was found in a file. No more of it names a person than the first letter of an address. */
export type Staged = {
  /** Null for a dry run. */
  readonly import: bigint | null
  readonly summary: ImportSummary
  readonly file: StagedFile
  readonly reasons: readonly {
    readonly kind: 'rejected' | 'duplicate' | 'suppressed' | 'already imported'
    readonly reason: string
    readonly rows: number
  }[]
  readonly samples: readonly {
    readonly line: bigint
    /** Masked: `a…@example.com`. */
    readonly recipient: string
    readonly all: boolean
    readonly componentIds: readonly string[]
    readonly locale: string
  }[]
  readonly rejectSamples: readonly {
    readonly line: bigint
    readonly column: string | null
    readonly message: string
  }[]
  readonly warnings: readonly string[]
}
