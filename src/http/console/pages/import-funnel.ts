import { counted, number, share } from '#src/model/counted.ts'
import { type ImportCounts, type ImportStatus, missingOf } from '#src/model/import.ts'
import { type Html, html } from '../html.ts'
import { table } from '../parts/table.ts'

type Part = { readonly name: string; readonly css: string; readonly rows: number; readonly means: string }

/** The rows of an import by outcome: a bar, the same in numbers, and an alert if they do not add up. */
export function funnel(id: bigint, status: ImportStatus, counts: ImportCounts): Html {
  const { read } = counts
  const parts = partsOf(status, counts)
  return html`${missing(id, counts)}
<figure class="funnel">${bar(parts, read)}</figure>
<div class="rows">${table<Part>(
    'Rows by outcome',
    [
      { head: 'What', cell: ({ name, css }) => html`<span>${swatch(css)}${name}</span>` },
      { head: 'Rows', isNumber: true, cell: ({ rows }) => number(rows) },
      { head: 'Share', isNumber: true, cell: ({ rows }) => share(rows, read) },
      { head: 'Meaning', cell: ({ means }) => html`<span class="quiet">${means}</span>` },
    ],
    [...parts, sumOf(parts, counts)],
    html`The file has no rows.`,
  )}</div>`
}

function partsOf(status: ImportStatus, counts: ImportCounts): Part[] {
  return [
    { name: 'Sent', css: 'sent', rows: counts.sent, means: 'The platform has them.' },
    {
      name: 'Pending',
      css: 'pending',
      rows: counts.pending,
      means:
        status === 'cancelled'
          ? 'Not sent: the import was cancelled. Another import can send them.'
          : 'Still to be sent.',
    },
    {
      name: 'Uncertain',
      css: 'uncertain',
      rows: counts.uncertain,
      means: 'The call got no definite answer.',
    },
    {
      name: 'Rejected',
      css: 'rejected',
      rows: counts.rejected,
      means: 'Rejected when the file was checked, or by the platform.',
    },
    {
      name: 'Duplicate',
      css: 'duplicate',
      rows: counts.duplicate,
      means: 'The recipient is also earlier in the file.',
    },
    {
      name: 'Suppressed',
      css: 'suppressed',
      rows: counts.suppressed,
      means: 'Left out because of the file or --suppress.',
    },
    {
      name: 'Already imported',
      css: 'already',
      rows: counts.alreadyImported,
      means: 'Another import sent them to this page.',
    },
  ]
}

function sumOf(parts: readonly Part[], counts: ImportCounts): Part {
  const rows = parts.reduce((sum, part) => sum + part.rows, 0)
  const isWhole = missingOf(counts) === 0
  const means = `${number(counts.read)} were read: ${isWhole ? 'every row is accounted for.' : 'this does not add up.'}`
  return { name: 'Sum', css: '', rows, means }
}

function missing(id: bigint, counts: ImportCounts): Html | null {
  const rows = missingOf(counts)
  if (rows === 0) return null
  const what =
    rows > 0
      ? `${counted(rows, 'row of the file is', 'rows of the file are')} unaccounted for`
      : `${counted(-rows, 'row')} too many`
  return html`<p class="problem" role="alert"><strong>The counts of this import do not add up: ${what}.</strong> This is a bug in Ferry. Please report it with the output of <code>ferry imports show ${id} --json</code>.</p>`
}

function swatch(css: string): Html | null {
  if (css === '') return null
  return html`<svg class="swatch" aria-hidden="true"><rect class="rows-${css}" width="12" height="12"/></svg>`
}

const WIDTH = 1_000
/** A part with a row is never too small to be seen. */
const MIN_WIDTH = 4

function bar(parts: readonly Part[], read: number): Html | null {
  const shown = parts.filter(({ rows }) => rows > 0)
  if (shown.length === 0) return null
  const wanted = shown.map(({ rows }) => Math.max((rows / Math.max(read, 1)) * WIDTH, MIN_WIDTH))
  const sum = wanted.reduce((total, width) => total + width, 0)
  const widths = wanted.map(width => (width / sum) * WIDTH)
  const starts = widths.map((_, index) => widths.slice(0, index).reduce((total, width) => total + width, 0))
  const title = shown.map(({ name, rows }) => `${name} ${number(rows)}`).join(', ')
  return html`<svg role="img" aria-label="${title}" viewBox="0 0 ${WIDTH} 22" preserveAspectRatio="none"><title>${title}</title>${shown.map(
    ({ css }, index) =>
      html`<rect class="rows-${css}" x="${(starts[index] ?? 0).toFixed(1)}" width="${(widths[index] ?? 0).toFixed(1)}" height="22"/>`,
  )}</svg>`
}
