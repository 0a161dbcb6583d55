import type { Shape } from './file/rows.ts'
import type { Compression } from './file/unpack.ts'
import type { ImportOptions } from './options.ts'
import type { Tally } from './row-sink.ts'
import type { RejectSample, StagedSample } from './samples.ts'
import type { MaybeSentBefore } from './sent-before.ts'
import type { StagedReason } from './staging.ts'

/** How a file is written, and what of it is read. */
export type StagedFile = Shape & { readonly compression: Compression }

/** What staging found in a file, with recipients as they are. */
export type StagingResult = {
  /** Null for a dry run. */
  readonly id: bigint | null
  readonly options: ImportOptions
  readonly file: StagedFile
  /** Rows to be sent, without those that other imports have sent. */
  readonly recipients: number
  readonly alreadyImported: number
  readonly maybeSent: readonly MaybeSentBefore[]
  readonly tally: Readonly<Tally>
  readonly reasons: readonly StagedReason[]
  readonly samples: readonly StagedSample[]
  readonly rejects: readonly RejectSample[]
  readonly durationMs: number
}
