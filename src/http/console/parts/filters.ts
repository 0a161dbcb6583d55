import { type Html, type HtmlValue, html } from '../html.ts'
import { instantOfField } from './instants.ts'

export type Filter =
  | {
      readonly name: string
      readonly label: string
      readonly kind: 'text' | 'date'
      readonly hint?: string | undefined
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
      readonly any?: string | undefined
    }

/** A form that narrows a list: its fields hold what the address says. */
export function filters(path: string, query: URLSearchParams, fields: readonly Filter[]): Html {
  const isNarrowed = fields.some(({ name }) => query.get(name))
  return html`<form class="filters" method="get" action="${path}" aria-label="Filter">
${fields.map(field => fieldOf(field, query))}
${fields.some(({ kind }) => kind === 'datetime-local') ? zoneField(query) : null}
<button>Filter</button>${isNarrowed ? html` <a href="${path}">Show all</a>` : null}
</form>`
}

/** A field with its label. */
export function fieldOf(field: Filter, query: URLSearchParams): Html {
  if (field.kind === 'datetime-local') return instantField(field.name, field.label, query, field.zone)
  return html`<label>${field.label} ${control(field, query.get(field.name) ?? '')}</label>`
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
  return select(field.name, [['', field.any ?? 'any'], ...Object.entries(field.choices)], value)
}

/** A field that chooses one of these values, each with its words. */
export function select(
  name: string,
  choices: readonly (readonly [value: string, words: HtmlValue])[],
  chosen: string,
): Html {
  return html`<select name="${name}">${choices.map(
    ([value, words]) =>
      html`<option value="${value}"${value === chosen ? html` selected` : null}>${words}</option>`,
  )}</select>`
}

/** A choice of accounts: those that are configured, and the one in the address, which may be an older one. */
export function accountFilter(accounts: readonly string[], query: URLSearchParams): Filter {
  const asked = query.get('account')
  const choices = choicesOf(asked ? [...accounts, asked] : accounts)
  return { name: 'account', label: 'Account', kind: 'choice', choices, any: 'all' }
}

/** A choice of values that need no other words. */
export function choicesOf<Value extends string>(values: readonly Value[]): Readonly<Record<string, string>> {
  return Object.fromEntries(values.map(value => [value, value]))
}
