import type { Progress } from '#src/imports/progress.ts'
import { count, counted, duration, print, printJson } from '../output.ts'

/** Where the progress of an import is shown. */
export type View = {
  show(progress: Progress): void
  /** Leaves the line of the terminal as it is, for what is printed next. */
  end(): void
}

/** Where nothing moves, a line is written all the same so often: it tells that somebody still watches. */
const SILENCE_MS = 60_000
/** Where much moves, no more often than this. */
const PACE_MS = 5_000

const LONGEST_BAR = 24
const CLEAR = '\r\u001b[K'

/** Objects for programs, a bar that moves on a terminal, lines elsewhere. */
export function openView(options: { json?: true }): View {
  if (options.json) return lines(progress => printJson({ progress: jsonOf(progress) }))
  if (!process.stdout.isTTY) return lines(progress => print(inWords(progress)))
  let shown = false
  return {
    show(progress) {
      shown = true
      process.stdout.write(CLEAR + fitted(progress, process.stdout.columns || 80))
    },
    end() {
      if (shown) print('')
      shown = false
    },
  }
}

/** The bar takes what room the words leave; what is too long loses its end, where the least important words are. */
function fitted({ summary, ...pace }: Progress, columns: number): string {
  const words = inWords({ summary, ...pace })
  const width = Math.min(LONGEST_BAR, columns - words.length - 4)
  const all = toBeSent(summary)
  const filled = all === 0 ? width : Math.floor((summary.sent / all) * width)
  const bar = width < 4 ? '' : `[${'#'.repeat(filled)}${'.'.repeat(width - filled)}] `
  return (bar + words).slice(0, Math.max(columns - 1, 1))
}

/** A line whenever the status changes, and for the rest now and then. */
function lines(write: (progress: Progress) => void): View {
  let last = { at: Number.NEGATIVE_INFINITY, status: '', counts: '' }
  return {
    show(progress) {
      const { status, sent, rejected, uncertain } = progress.summary
      const counts = `${sent} ${rejected} ${uncertain}`
      const sinceMs = performance.now() - last.at
      const changed = counts !== last.counts && sinceMs >= PACE_MS
      if (status === last.status && !changed && sinceMs < SILENCE_MS) return
      last = { at: performance.now(), status, counts }
      write(progress)
    },
    end() {},
  }
}

function jsonOf({ summary, batchesLeft, rowsPerMinute, etaMs, whyWaiting }: Progress) {
  const { import: id, status, sent, rejected, uncertain, pending, batches } = summary
  const counts = { sent, rejected, uncertain, pending, batches, batchesLeft }
  const rate = rowsPerMinute === null ? null : Math.round(rowsPerMinute)
  return { import: id, status, ...counts, rowsPerMinute: rate, etaMs, whyWaiting }
}

function inWords({ summary, batchesLeft, rowsPerMinute, etaMs, whyWaiting }: Progress): string {
  const { import: id, status, sent, rejected, uncertain, batches } = summary
  const all = toBeSent(summary)
  return [
    `import ${id} ${status}: ${count(sent)} of ${counted(all, 'row')}${all === 0 ? '' : ` (${Math.floor((sent / all) * 100)} %)`}`,
    etaMs === null ? '' : `${duration(Math.round(etaMs / 1_000) * 1_000)} left`,
    whyWaiting ?? '',
    `${count(batches - batchesLeft)} of ${counted(batches, 'batch', 'batches')}`,
    rowsPerMinute === null ? '' : `${count(Math.round(rowsPerMinute))} rows/min`,
    rejected > 0 ? `${count(rejected)} rejected` : '',
    uncertain > 0 ? `${count(uncertain)} uncertain` : '',
  ]
    .filter(Boolean)
    .join(', ')
}

function toBeSent({ sent, uncertain, pending }: Progress['summary']): number {
  return sent + uncertain + pending
}
