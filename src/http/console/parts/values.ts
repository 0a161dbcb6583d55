import { cutText, firstOf } from '#src/model/cut-text.ts'
import { duration } from '#src/model/duration.ts'
import { type Html, html } from '../html.ts'

/** How good a state is: the color of its badge. The word says the same, for those who see no colors. */
export type Tone = 'good' | 'warn' | 'bad' | 'quiet'

/**
 * A state in one word or two. With `announce`, a name for what it is the state of, the page says to screen readers when the
 * word changes.
 */
export function badge(tone: Tone, word: string, announce?: string): Html {
  return html`<span class="badge ${tone}"${announce ? html` data-announce="${announce}"` : null}>${word}</span>`
}

/** Whether a rule or a server is enabled. */
export function enabledBadge(isEnabled: boolean): Html {
  return isEnabled ? badge('good', 'enabled') : badge('warn', 'disabled')
}

/** Whether a rule is enabled, and whether it is firing. */
export function ruleBadges(isEnabled: boolean, isFiring: boolean): Html {
  return html`${enabledBadge(isEnabled)} ${isFiring ? badge('bad', 'firing') : null}`
}

/** An instant, which leads to what happened around it. */
export function time(at: Date | null, timezone: string, missing = '–'): Html {
  return linked(at, missing, at => plainTime(at, timezone))
}

/** An instant that leads nowhere. */
export function plainTime(at: Date, timezone: string): Html {
  return html`<time datetime="${at.toISOString()}">${inZone(at, timezone)}</time>`
}

/** From then on, an instant is more than how long ago it was. */
const MAX_AGE_MS = 7 * 86_400_000

/** How long ago an instant was, exactly when it is pointed at. One of the future, or of another week, is shown exactly. Script keeps it up to date. */
export function ago(at: Date | null, timezone: string, missing = '–'): Html {
  const ageMs = at === null ? 0 : Date.now() - at.getTime()
  if (ageMs < 0 || ageMs > MAX_AGE_MS) return time(at, timezone, missing)
  const age = duration(ageMs < 60_000 ? Math.max(1_000, floor(ageMs, 1_000)) : floor(ageMs, 60_000))
  return linked(
    at,
    missing,
    at =>
      html`<time datetime="${at.toISOString()}" title="${inZone(at, timezone)} ${timezone}" data-ago>${age} ago</time>`,
  )
}

function floor(ms: number, to: number): number {
  return Math.floor(ms / to) * to
}

function linked(at: Date | null, missing: string, shown: (at: Date) => Html): Html {
  if (at === null) return html`<span class="none">${missing}</span>`
  return at.getTime() > Date.now()
    ? shown(at)
    : html`<a class="at" href="/at/${at.toISOString()}">${shown(at)}</a>`
}

const FORMATS = new Map<string, Intl.DateTimeFormat>()

/** `2026-11-20 03:30:05`, in this zone. */
export function inZone(at: Date, timezone: string): string {
  let format = FORMATS.get(timezone)
  if (!format) {
    format = new Intl.DateTimeFormat('sv-SE', { timeZone: timezone, dateStyle: 'short', timeStyle: 'medium' })
    FORMATS.set(timezone, format)
  }
  return format.format(at)
}

/** How long something took; `missing` if it has not ended. */
export function lasted(from: Date, to: Date | null, missing = '–'): string {
  return to === null ? missing : duration(to.getTime() - from.getTime())
}

const MAX_NAME_CHARACTERS = 200

/** The most characters of a cut text that its tooltip shows. */
const MAX_TITLE_CHARACTERS = 500

/** Text of others, such as a name: it cannot turn the text around it, and a long one is cut, with more in its tooltip. */
export function foreign(text: string | null, missing = '–'): Html {
  if (text === null) return html`<span class="none">${missing}</span>`
  if (text.trim() === '') return html`<span class="none">(${text === '' ? 'empty' : 'only spaces'})</span>`
  if (text.length <= MAX_NAME_CHARACTERS) return html`<bdi>${text}</bdi>`
  return html`<bdi title="${cutText(text, MAX_TITLE_CHARACTERS)}">${firstOf(text, MAX_NAME_CHARACTERS)}…</bdi>`
}

/** A sentence for people: what stands between backticks is a command. It may quote text of others. */
export function sentence(text: string): Html {
  const parts = text.split('`')
  // A lone backtick is none of ours.
  if (parts.length % 2 === 0) return html`<bdi>${text}</bdi>`
  return html`<bdi>${parts.map((part, n) => (n % 2 === 1 ? html`<code>${part}</code>` : part))}</bdi>`
}

/** Messages of the rooms begin in lower case, as the rest of a line of the command line. */
export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
