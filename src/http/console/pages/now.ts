import { type Html, html } from '../html.ts'
import { limits } from '../now/limits.ts'
import { loadNow } from '../now/load-now.ts'
import { blindSpots, decisions, freshness, slots } from '../now/sections.ts'
import { verdictOf } from '../now/verdict.ts'
import { workers } from '../now/workers.ts'
import type { Page } from '../page.ts'
import { badge } from '../parts/values.ts'

/** Often enough for somebody who watches, seldom enough for a screen on a wall. */
const REFRESH_EVERY_MS = 15_000

/** Does anything need attention, and what should be done? */
export const now: Page = {
  path: '/',
  section: 'now',
  access: 'read',
  async render({ reader, target }) {
    const { schedules, timezone } = target
    const [facts, readiness] = await Promise.all([loadNow(reader, schedules), target.readiness()])
    const { tone, word, sentence } = verdictOf(facts, readiness)
    return {
      title: 'Now',
      refreshEveryMs: REFRESH_EVERY_MS,
      body: html`<p class="verdict ${tone}">${badge(tone, word, 'Ferry')} ${withImports(sentence)}</p>
${decisions(facts, timezone)}
${freshness(facts, timezone)}
${workers(facts, timezone)}
${slots(facts, timezone)}
${limits(facts, target, new Date())}
${blindSpots(facts, timezone)}`,
    }
  },
}

/** The imports that a sentence names lead to their pages. */
function withImports(sentence: string): Html {
  const parts = sentence.split(/\b(import \d+)\b/i)
  return html`${parts.map((part, n) => (n % 2 === 1 ? html`<a href="/imports/${part.slice('import '.length)}">${part}</a>` : part))}`
}
