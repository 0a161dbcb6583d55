import { type Html, html } from '../html.ts'

/** A field that searches everything by name or id. */
export function searchForm(words: string, label: string): Html {
  return html`<form class="search" method="get" action="/search" role="search" aria-label="${label}">
<input type="search" name="q" value="${words}" aria-label="${label}" placeholder="Search" maxlength="200"> <button>Search</button>
</form>`
}
