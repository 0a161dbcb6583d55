import { type Html, html } from '../html.ts'
import { instantOfField } from './instants.ts'

export type Filter =
  | {
      readonly name: string
      readonly label: string
      readonly kind: 'text' | 'date'
      readonly hint?: string
    }
  | {
      readonly name: string
      /** Without the zone: the form adds it. */
      readonly label: string
      readonly kind: 'datetime-local'
      /** The zone that the field is read in: see `zoneOf`. */
      readonly zone: string
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
${fields.map(field =>
  field.kind === 'datetime-local'
    ? instantField(field.name, field.label, query, field.zone)
    : html`<label>${field.label} ${control(field, query.get(field.name) ?? '')}</label>`,
)}
${fields.some(({ kind }) => kind === 'datetime-local') ? zoneField(query) : null}
<button>Filter</button>${isNarrowed ? html` <a href="${path}">Show all</a>` : null}
</form>`
}

/** The fields of a list that is narrowed to a time. */
export function sinceAndUntil(zone: string): readonly Filter[] {
  return [
    { name: 'since', label: 'Since', kind: 'datetime-local', zone },
    { name: 'until', label: 'Until', kind: 'datetime-local', zone },
  ]
}

/** A field for an instant. Script turns its value, its label and the field of the zone into the reader's zone. */
export function instantField(name: string, label: string, query: URLSearchParams, zone: string): Html {
  const given = instantOfField(query.get(name), zone)
  return html`<label><span>${label} (<span data-zone>${zone}</span>)</span> <input type="datetime-local" name="${name}" value="${given?.local ?? ''}"${given ? html` data-at="${given.at.toISOString()}"` : null}></label>`
}

/** The zone that a form with instants is read in; empty for that of the settings. */
export function zoneField(query: URLSearchParams): Html {
  return html`<input type="hidden" name="zone" value="${query.get('zone') ?? ''}">`
}

function control(field: Exclude<Filter, { kind: 'datetime-local' }>, value: string): Html {
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
