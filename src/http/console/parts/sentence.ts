import { type Html, html } from '../html.ts'

/** A sentence for people: what stands between backticks is a command. It may quote text of others. */
export function sentence(text: string): Html {
  const parts = text.split('`')
  // A lone backtick is none of ours.
  if (parts.length % 2 === 0) return html`<bdi>${text}</bdi>`
  return html`<bdi>${parts.map((part, n) => (n % 2 === 1 ? html`<code>${part}</code>` : part))}</bdi>`
}
