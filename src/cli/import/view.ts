import type { Progress } from '#src/imports/progress.ts'
import { columnsShown, count, counted, duration, print, printJson } from '../output.ts'
import { wrapped } from '../wrap.ts'

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
const SHORTEST_BAR = 10
const INDENT = '  '

/** Objects for programs, a bar that moves on a terminal, lines elsewhere. */
export function openView(options: { json?: true }): View {
  if (options.json) return lines(progress => printJson({ progress: jsonOf(progress) }))
  if (!process.stdout.isTTY) return lines(progress => print(inWords(progress).join(', ')))
  let shown = 0
  return {
    show(progress) {
      const drawn = barred(progress, columnsShown())
      process.stdout.write(clear(shown) + drawn.join('\n'))
      shown = drawn.length
    },
    end() {
      if (shown > 0) print('')
      shown = 0
    },
  }
}

/** Takes back so many lines, of which the cursor is in the last. */
function clear(lines: number): string {
  const up = lines > 1 ? `\u001b[${lines - 1}A` : ''
  return lines === 0 ? '' : `\r${up}\u001b[J`
}

/** The bar in the first line takes what room the words leave; what else there is to say follows, whole. */
function barred({ summary, ...pace }: Progress, columns: number): string[] {
  const { import: id, status, sent } = summary
  const all = toBeSent(summary)
  const [how = '', ...more] = inWords({ summary, ...pace })
  const counts = how.slice(how.indexOf(':') + 2)
  const name = `import ${id} ${status} `
  const room = columns - 1 - name.length - counts.length - '[] '.length
  const width = Math.max(SHORTEST_BAR, Math.min(LONGEST_BAR, room))
  const filled = all === 0 ? width : Math.floor((sent / all) * width)
  const first = `${name}[${'#'.repeat(filled)}${'.'.repeat(width - filled)}] ${counts}`
  const rest = more.length === 0 ? [] : wrapped(more.join(', '), columns - 1 - INDENT.length)
  return [...wrapped(first, columns - 1), ...rest.map(line => INDENT + line)]
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

/** The most important first. */
function inWords({ summary, batchesLeft, rowsPerMinute, etaMs, whyWaiting }: Progress): string[] {
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
  ].filter(Boolean)
}

function toBeSent({ sent, uncertain, pending }: Progress['summary']): number {
  return sent + uncertain + pending
}
