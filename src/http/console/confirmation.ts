import { MAX_BECAUSE_CHARACTERS } from '#src/model/act.ts'
import { type Html, html } from './html.ts'
import type { Confirmation } from './page.ts'

/** The form that asks whether to do something. */
export function confirmationBody(action: string, token: string, asked: Confirmation): Html {
  const { body, button, isDangerous, back } = asked
  return html`<form class="confirmation" method="post" action="${action}">
${body}
<label>Why? <input type="text" name="because" maxlength="${MAX_BECAUSE_CHARACTERS}" autocomplete="off"> <small>It is written in the audit.</small></label>
<input type="hidden" name="token" value="${token}">
<p class="buttons"><button class="${isDangerous ? 'danger' : 'primary'}">${button}</button> <a class="button" href="${back}">Do nothing</a></p>
</form>`
}
