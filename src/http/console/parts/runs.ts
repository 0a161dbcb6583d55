import type { RunStatus } from '#src/model/run.ts'
import { type Html, html } from '../html.ts'
import { ago, badge, type Tone } from './values.ts'

const TONES: Readonly<Partial<Record<string, Tone>>> = {
  succeeded: 'good',
  partial: 'warn',
  held: 'warn',
  failed: 'bad',
} satisfies Partial<Record<RunStatus, Tone>>

/** How good it is that a run ended so. */
export function runTone(status: string): Tone {
  return TONES[status] ?? 'quiet'
}

/** How a run, a snapshot or the slot of a schedule ended, or that it is under way. */
export function runBadge(status: string, announce?: string): Html {
  return badge(runTone(status), status, announce)
}

/** A link to a run by its number. */
export function runLink(run: bigint | string, words: string = `${run}`): Html {
  return html`<a href="/ledger/runs/${run}">${words}</a>`
}

/** When a run observed something, with links to what else happened then and to that run. */
export function observed(
  { at, run }: { readonly at: Date; readonly run: bigint | string },
  timezone: string,
): Html {
  return html`<span>${ago(at, timezone)}<br><small>${runLink(run, `run ${run}`)}</small></span>`
}
