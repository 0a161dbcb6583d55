import type { Ferry } from '#src/ferry.ts'
import { dryRun, type ImportOptions, type Staged, stageImport } from '#src/imports/stage.ts'
import { count } from '../output.ts'

const SHOW_EVERY_MS = 200
const CLEAR = '\r\u001b[K'

/** Reads the file, with a line on the terminal that says how far it is. Throws `FileRefused`. */
export async function stageFile(
  ferry: Ferry,
  path: string,
  options: ImportOptions,
  dry: boolean,
  signal: AbortSignal,
): Promise<Staged> {
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
  return `reading: ${count(rows)} rows${share}`
}

/** On stderr, so that it mixes with no result; nothing where no terminal is. */
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
