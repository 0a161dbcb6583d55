import type { RunStatus } from '#src/model/run.ts'
import { type Html, html } from '../html.ts'
import { badge, type Tone } from './values.ts'

const TONES: Readonly<Record<RunStatus, Tone>> = {
  running: 'quiet',
  succeeded: 'good',
  partial: 'warn',
  held: 'warn',
  failed: 'bad',
  skipped: 'quiet',
}

/** How a run ended, or that it is under way. */
export function runBadge(status: RunStatus, announce?: string): Html {
  return badge(TONES[status], status, announce)
}

/** A link to a run by its number. */
export function runLink(run: bigint | string, words: string = `${run}`): Html {
  return html`<a href="/ledger/runs/${run}">${words}</a>`
}
