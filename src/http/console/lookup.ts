import { type Html, html } from './html.ts'
import type { LookupView } from './page.ts'

/** The form of a lookup, and what was found. The answer comes first: who asks again scrolls less often than who reads. */
export function lookupBody(path: string, token: string, { fields, button, found, back }: LookupView): Html {
  return html`${found}<form class="confirmation" method="post" action="${path}" autocomplete="off">
${fields}
<input type="hidden" name="token" value="${token}">
<p class="buttons"><button class="primary">${button}</button> <a class="button" href="${back}">Back</a></p>
</form>`
}
