import type { Progress } from '#src/imports/reporting/progress.ts'
import { counted, number, share } from '#src/model/counted.ts'
import { duration } from '#src/model/duration.ts'
import { toBeSent } from '#src/model/import.ts'
import { columnsShown, print, printJson } from '../output.ts'
import { wrapped } from '../wrap.ts'

/** Where the progress of an import is shown. */
export type View = {
  show(progress: Progress): void
  /** Ends the line of the terminal; what is printed next goes below it. */
  end(): void
}

/** While nothing changes, a line is written this often, to show that the command still runs. */
const SILENCE_MS = 60_000
/** While counts change, lines are written no more often than this. */
const PACE_MS = 5_000

const LONGEST_BAR = 24
const SHORTEST_BAR = 10
const INDENT = '  '

/** Opens JSON objects for programs, a bar that moves on a terminal, or lines elsewhere. */
export function openView(options: { json?: true }): View {
  if (options.json) return new Lines(progress => printJson({ progress: jsonOf(progress) }))
  return process.stdout.isTTY ? new Bar() : new Lines(progress => print(inOneLine(progress)))
}

/** Draws over what it drew before. */
class Bar implements View {
  #lines = 0

  show(progress: Progress): void {
    const drawn = barred(progress, columnsShown())
    process.stdout.write(this.#cleared() + drawn.join('\n'))
    this.#lines = drawn.length
  }

  end(): void {
    if (this.#lines > 0) print('')
    this.#lines = 0
  }

  /** The cursor is in the last line. */
  #cleared(): string {
    const up = this.#lines > 1 ? `\u001b[${this.#lines - 1}A` : ''
    return this.#lines === 0 ? '' : `\r${up}\u001b[J`
  }
}

/** The bar takes the room that the words of the first line leave; the rest follows below it, whole. */
function barred(progress: Progress, columns: number): string[] {
  const { summary, whyWaiting } = progress
  const { import: id, status, sent } = summary
  const all = toBeSent(summary)
  const [how = '', ...more] = inWords(progress)
  const counts = how.slice(how.indexOf(':') + 2)
  const name = `import ${id} ${status} `
  const room = columns - 1 - name.length - counts.length - '[] '.length
  const width = Math.max(SHORTEST_BAR, Math.min(LONGEST_BAR, room))
  const filled = all === 0 ? width : Math.floor((sent / all) * width)
  const first = `${name}[${'#'.repeat(filled)}${'.'.repeat(width - filled)}] ${counts}`
  const rest = [more.join(', '), whyWaiting === null ? '' : `${whyWaiting}.`].filter(Boolean)
  const below = rest.flatMap(text => wrapped(text, columns - 1 - INDENT.length))
  return [...wrapped(first, columns - 1), ...below.map(line => INDENT + line)]
}

/** Writes a line whenever the status changes, and otherwise from time to time. */
class Lines implements View {
  #last = { atMs: Number.NEGATIVE_INFINITY, status: '', counts: '' }
  readonly #write: (progress: Progress) => void

  constructor(write: (progress: Progress) => void) {
    this.#write = write
  }

  show(progress: Progress): void {
    const { status, sent, rejected, uncertain } = progress.summary
    const counts = `${sent} ${rejected} ${uncertain}`
    const sinceMs = performance.now() - this.#last.atMs
    const changed = counts !== this.#last.counts && sinceMs >= PACE_MS
    if (status === this.#last.status && !changed && sinceMs < SILENCE_MS) return
    this.#last = { atMs: performance.now(), status, counts }
    this.#write(progress)
  }

  end(): void {}
}

function jsonOf({ summary, batchesLeft, rowsPerMinute, etaMs, whyWaiting }: Progress) {
  const { import: id, status, sent, rejected, uncertain, pending, batches } = summary
  const counts = { sent, rejected, uncertain, pending, batches, batchesLeft }
  const rate = rowsPerMinute === null ? null : Math.round(rowsPerMinute)
  return { import: id, status, ...counts, rowsPerMinute: rate, etaMs, whyWaiting }
}

/** How far an import is, and why it waits. */
export function inOneLine(progress: Progress): string {
  const { whyWaiting } = progress
  return inWords(progress).join(', ') + (whyWaiting === null ? '' : `. ${whyWaiting}.`)
}

/** The most important first. */
function inWords({ summary, batchesLeft, rowsPerMinute, etaMs }: Progress): string[] {
  const { import: id, status, sent, rejected, uncertain, batches } = summary
  const all = toBeSent(summary)
  return [
    `import ${id} ${status}: ${number(sent)} of ${counted(all, 'row')}${all === 0 ? '' : ` (${share(sent, all)})`}`,
    etaMs === null ? '' : `${duration(Math.round(etaMs / 1_000) * 1_000)} left`,
    status === 'cancelled'
      ? ''
      : `${number(batches - batchesLeft)} of ${counted(batches, 'batch', 'batches')}`,
    rowsPerMinute === null ? '' : `${counted(Math.round(rowsPerMinute), 'row')}/min`,
    rejected > 0 ? `${number(rejected)} rejected` : '',
    uncertain > 0 ? `${number(uncertain)} uncertain` : '',
  ].filter(Boolean)
}
