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

const BAR = 24
const CLEAR = '\r\u001b[K'

/** Objects for programs, a bar that moves on a terminal, lines elsewhere. */
export function openView(options: { json?: true }): View {
  if (options.json) return lines(progress => printJson({ progress: jsonOf(progress) }))
  if (!process.stdout.isTTY) return lines(progress => print(inWords(progress)))
  let shown = false
  return {
    show(progress) {
      shown = true
      const line = `${barOf(progress)} ${inWords(progress)}`
      process.stdout.write(CLEAR + line.slice(0, Math.max(process.stdout.columns - 1, 1)))
    },
    end() {
      if (shown) print('')
      shown = false
    },
  }
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

function barOf({ summary }: Progress): string {
  const { sent } = summary
  const all = toBeSent(summary)
  const filled = all === 0 ? BAR : Math.floor((sent / all) * BAR)
  return `[${'#'.repeat(filled)}${'.'.repeat(BAR - filled)}]`
}

function inWords({ summary, batchesLeft, rowsPerMinute, etaMs, whyWaiting }: Progress): string {
  const { import: id, status, sent, rejected, uncertain, batches } = summary
  const all = toBeSent(summary)
  return [
    `import ${id}: ${status}`,
    `${count(sent)} of ${counted(all, 'row')} sent${all === 0 ? '' : ` (${Math.floor((sent / all) * 100)} %)`}`,
    `${count(batches - batchesLeft)} of ${counted(batches, 'batch', 'batches')}`,
    rejected > 0 ? `${count(rejected)} rejected` : '',
    uncertain > 0 ? `${count(uncertain)} uncertain` : '',
    rowsPerMinute === null ? '' : `${count(Math.round(rowsPerMinute))} rows/min`,
    etaMs === null ? '' : `${duration(etaMs)} left`,
    whyWaiting ?? '',
  ]
    .filter(Boolean)
    .join(', ')
}

function toBeSent({ sent, uncertain, pending }: Progress['summary']): number {
  return sent + uncertain + pending
}
