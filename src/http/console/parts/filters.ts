import { type Html, html } from '../html.ts'

export type Filter =
  | {
      readonly name: string
      readonly label: string
      readonly kind: 'text' | 'date' | 'datetime-local'
      readonly hint?: string
    }
  | {
      readonly name: string
      readonly label: string
      readonly kind: 'choice'
      /** The words of each choice by its value. Nothing chosen is `any`. */
      readonly choices: Readonly<Record<string, string>>
      readonly any?: string
    }

/** A form that narrows a list: its fields hold what the address says. */
export function filters(path: string, query: URLSearchParams, fields: readonly Filter[]): Html {
  const isNarrowed = fields.some(({ name }) => query.get(name))
  return html`<form class="filters" method="get" action="${path}" aria-label="Filter">
${fields.map(field => html`<label>${field.label} ${control(field, query.get(field.name) ?? '')}</label>`)}
<button>Filter</button>${isNarrowed ? html` <a href="${path}">Show all</a>` : null}
</form>`
}

function control(field: Filter, value: string): Html {
  if (field.kind !== 'choice') {
    return html`<input type="${field.kind}" name="${field.name}" value="${value}"${field.hint ? html` placeholder="${field.hint}"` : null}>`
  }
  return html`<select name="${field.name}"><option value="">${field.any ?? 'any'}</option>${Object.entries(
    field.choices,
  ).map(
    ([choice, words]) =>
      html`<option value="${choice}"${choice === value ? html` selected` : null}>${words}</option>`,
  )}</select>`
}
