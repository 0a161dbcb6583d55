import { type Html, type HtmlValue, html } from '../html.ts'
import { href } from '../page.ts'
import { instantOfField } from './instants.ts'

export type Filter =
  | {
      readonly name: string
      readonly label: string
      readonly kind: 'text' | 'date'
      readonly hint?: string | undefined
      /** Values that the browser completes. */
      readonly offered?: readonly string[] | undefined
    }
  | {
      readonly name: string
      /** Without the zone: the form adds it. */
      readonly label: string
      readonly kind: 'datetime-local'
      /** The zone that the field is read in. */
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

/** A form that narrows a list: its fields hold what the address says. Above it, the usual periods if the list has times. */
export function filters(path: string, query: URLSearchParams, fields: readonly Filter[]): Html | null {
  if (fields.length === 0) return null
  const isNarrowed = fields.some(({ name }) => query.get(name))
  return html`${fields.some(({ name }) => name === 'since') ? periods(path, query) : null}
<form class="filters" method="get" action="${path}" aria-label="Filter">
${fields.map(field => fieldOf(field, query))}
<button>Filter</button>${isNarrowed ? html` <a href="${path}">Show all</a>` : null}
</form>`
}

const PERIODS = { '1h': '1 hour', '24h': '24 hours', '7d': '7 days' } as const

/** Links to what happened lately; the other filters stay. */
function periods(path: string, query: URLSearchParams): Html {
  const { after: _, until: __, since, ...kept } = Object.fromEntries(query)
  return html`<nav aria-label="Period"><ul class="tabs periods"><li>The last</li>${Object.entries(
    PERIODS,
  ).map(
    ([age, words]) =>
      html`<li><a href="${href(path, { ...kept, since: age })}"${age === since ? html` aria-current="true"` : null}>${words}</a></li>`,
  )}</ul></nav>`
}

/** A field with its label. */
export function fieldOf(field: Filter, query: URLSearchParams): Html {
  if (field.kind === 'datetime-local') return instantField(field.name, field.label, query, field.zone)
  return html`<label>${field.label} ${control(field, query.get(field.name) ?? '')}</label>`
}

/** A field for an instant in this zone. */
export function instantField(name: string, label: string, query: URLSearchParams, zone: string): Html {
  return html`<label>${label} (${zone}) <input type="datetime-local" name="${name}" value="${instantOfField(query.get(name), zone)}"></label>`
}

function control(field: Exclude<Filter, { kind: 'datetime-local' }>, value: string): Html {
  if (field.kind !== 'choice') {
    const { kind, name, hint, offered = [] } = field
    const list = offered.length > 0 ? `offered-${name}` : null
    return html`<input type="${kind}" name="${name}" value="${value}"${hint ? html` placeholder="${hint}"` : null}${list ? html` list="${list}"` : null}>${list ? html`<datalist id="${list}">${offered.map(one => html`<option value="${one}"></option>`)}</datalist>` : null}`
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
