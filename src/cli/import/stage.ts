import type { Ferry } from '#src/ferry.ts'
import type { ImportOptions } from '#src/imports/staging/options.ts'
import { dryRun, stageImport } from '#src/imports/staging/stage.ts'
import type { StagingReport } from '#src/imports/staging/staging-report.ts'
import { number } from '#src/model/counted.ts'

const SHOW_EVERY_MS = 200
const CLEAR = '\r\u001b[K'

/** Stages the file, and shows on a line of the terminal how much of it has been read. Throws `FileRefused`. */
export async function stageFile(
  ferry: Ferry,
  path: string,
  options: ImportOptions,
  dry: boolean,
  signal: AbortSignal,
): Promise<StagingReport> {
  const line = openLine()
  const onProgress = (progress: Parameters<typeof inWords>[0]) => line.show(inWords(progress))
  try {
    return await (dry ? dryRun : stageImport)(ferry, path, options, { signal, onProgress })
  } finally {
    line.clear()
  }
}

function inWords({
  bytes,
  totalBytes,
  rows,
}: {
  bytes: number
  totalBytes: number | null
  rows: number
}): string {
  const share = totalBytes ? ` (${Math.floor((bytes / totalBytes) * 100)} %)` : ''
  return `reading: ${number(rows)} rows${share}`
}

/** On stderr, apart from results; without a terminal nothing is shown. */
function openLine() {
  let shownAt = Number.NEGATIVE_INFINITY
  return {
    show(text: string) {
      if (!process.stderr.isTTY || performance.now() - shownAt < SHOW_EVERY_MS) return
      shownAt = performance.now()
      process.stderr.write(CLEAR + text)
    },
    clear() {
      if (shownAt > 0) process.stderr.write(CLEAR)
    },
  }
}
