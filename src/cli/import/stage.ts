import type { Ferry } from '#src/ferry.ts'
import type { ImportOptions } from '#src/imports/staging/options.ts'
import { dryRun, type StagingProgress, stageImport } from '#src/imports/staging/stage.ts'
import type { StagingReport } from '#src/imports/staging/staging-report.ts'
import { counted } from '#src/model/counted.ts'
import { StatusLine } from '../output.ts'

const SHOW_EVERY_MS = 200

/** Stages the file, and shows on a line of the terminal how much of it has been read. Throws `FileRefused`. */
export async function stageFile(
  ferry: Ferry,
  path: string,
  options: ImportOptions,
  dry: boolean,
  signal: AbortSignal,
): Promise<StagingReport> {
  const line = new StatusLine(SHOW_EVERY_MS)
  const onProgress = (progress: StagingProgress) => line.show(inWords(progress))
  try {
    return await (dry ? dryRun : stageImport)(ferry, path, options, { signal, onProgress })
  } finally {
    line.clear()
  }
}

function inWords({ bytes, totalBytes, rows }: StagingProgress): string {
  const share = totalBytes ? ` (${Math.floor((bytes / totalBytes) * 100)} %)` : ''
  return `reading: ${counted(rows, 'row')}${share}`
}
