import type { Pool } from 'pg'
import type { ImportSummary, OnUncertain } from '#src/model/import.ts'

/** The products whose exports Ferry knows. */
export const PRESET_NAMES = ['statuspage', 'instatus', 'betterstack', 'cachet', 'platform'] as const
export type PresetName = (typeof PRESET_NAMES)[number]

/** What staging needs of the outside; an `ImportContext` has it. */
export type StagingContext = { readonly pool: Pool }

export type ImportOptions = {
  readonly account: string
  readonly pageId: bigint
  readonly method: string
  /** Which column of the file holds a field: recipient, all, component_ids, locale, or a preset's status field. */
  readonly map: Readonly<Record<string, string>>
  readonly defaultLocale: string | null
  /** Rows that name neither all nor components are for all. */
  readonly all: boolean
  readonly from: PresetName | null
  /** Path of a CSV whose first column is an old component's id and whose second the new one's. */
  readonly components: string | null
  /** Path of a list of recipients that are not to be imported. */
  readonly suppress: string | null
  readonly batchRows: number
  readonly firstRows: number | null
  readonly onUncertain: OnUncertain
  readonly update: boolean
}

export type StagingProgress = {
  readonly bytes: number
  /** Null for stdin. */
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
  readonly columns: string[] | null
  /** Field to column. */
  readonly mapped: Record<string, string>
  readonly unused: string[]
}

export type Staged = {
  /** Null for a dry run. */
  readonly import: bigint | null
  readonly summary: ImportSummary
  readonly file: StagedFile
  readonly reasons: readonly {
    readonly kind: 'rejected' | 'duplicate' | 'suppressed'
    readonly reason: string
    readonly rows: number
  }[]
  readonly samples: readonly {
    readonly line: bigint
    /** Masked. */
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

/** The file as a whole cannot be imported; the message says why. Nothing was stored. */
export class FileRefused extends Error {
  override readonly name = 'FileRefused'
  readonly whatToDo: string

  constructor(message: string, whatToDo: string, options?: ErrorOptions) {
    super(message, options)
    this.whatToDo = whatToDo
  }
}

/** Reads and checks the file at `path` (`-` is stdin) and stores its rows as an import to be confirmed. */
export function stageImport(
  _ferry: StagingContext,
  _path: string,
  _options: ImportOptions,
  _watch: Watch,
): Promise<Staged> {
  throw new Error('not yet')
}

/** Does what `stageImport` does, and keeps nothing of it. */
export function dryRun(
  _ferry: StagingContext,
  _path: string,
  _options: ImportOptions,
  _watch: Watch,
): Promise<Staged> {
  throw new Error('not yet')
}

export function discardStaging(_pool: Pool, _id: bigint): Promise<void> {
  throw new Error('not yet')
}

/** Discards what was staged and not confirmed within 24 hours; returns how many imports. */
export function expireStagings(_pool: Pool): Promise<number> {
  throw new Error('not yet')
}
