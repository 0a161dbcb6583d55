import { ALL, COMPONENT_IDS, type Field, LOCALE, RECIPIENT } from '../file/header.ts'
import type { Preset, Status } from '../presets/preset.ts'
import { type CleanAddress, cleanRecipient, openRecipientCheck, type RecipientCheck } from './recipient.ts'
import {
  booleanOf,
  componentsOf,
  isRounded,
  isSound,
  localeKey,
  openLocaleCheck,
  ROUNDED,
  textOf,
} from './values.ts'

export type RowVerdict =
  | {
      readonly kind: 'good'
      readonly recipient: string
      readonly all: boolean
      /** Empty if `all`. */
      readonly componentIds: readonly string[]
      readonly locale: string
      readonly cleaned: CleanAddress['cleaned']
    }
  /** `message` never holds the recipient. `value` is given only for a field that holds no personal data: a locale. */
  | {
      readonly kind: 'rejected'
      readonly reason: string
      readonly field: number
      readonly message: string
      readonly value?: string
    }
  | { readonly kind: 'left out'; readonly reason: string; readonly recipient: string | null }

export type RowRules = {
  readonly fields: readonly Field[]
  readonly preset: Preset | null
  readonly method: string
  readonly lenientAddresses: boolean
  readonly defaultLocale: string | null
  /** From a locale in the file to the one it means, by `--map-locale`; the keys as `localeKey` returns them. */
  readonly locales: ReadonlyMap<string, string>
  readonly all: boolean
  /** From the components of the old product to those of the platform; null to use them as they are. */
  readonly components: ReadonlyMap<string, string> | null
}

type Who = { readonly recipient: string; readonly cleaned: CleanAddress['cleaned'] }

/** Checks rows by the values of their fields. A value is undefined if the file has no column for it. */
export class RowCheck {
  readonly #rules: RowRules
  readonly #checkRecipient: RecipientCheck
  readonly #isLocale = openLocaleCheck()
  readonly #statuses: readonly { readonly field: number; readonly name: string; readonly status: Status }[]
  /** Fields of which one has a value if the row is for another method. */
  readonly #others: readonly number[]

  constructor(rules: RowRules) {
    const { fields, preset, method, lenientAddresses } = rules
    this.#rules = rules
    this.#checkRecipient = openRecipientCheck(method, lenientAddresses)
    this.#statuses = fields.flatMap(({ name }, field) => {
      const status = preset?.statuses[name]
      return status ? [{ field, name, status }] : []
    })
    this.#others = fields.flatMap(({ name }, field) => (preset?.others?.includes(name) ? [field] : []))
  }

  verdictOn(values: readonly unknown[]): RowVerdict {
    const { method } = this.#rules
    const written = textOf(values[RECIPIENT])
    if (written === null || !isSound(written)) {
      return rejected('not text', RECIPIENT, 'the recipient is not text')
    }
    const { address: recipient, cleaned } = cleanRecipient(written, method)
    const fault = this.#checkRecipient(recipient)
    // Damaged, as a line of a file of rejects that nobody has corrected. Its empty cells are no status.
    const isBlank = recipient === '' && values.every(value => textOf(value) === '')
    for (const { field, name, status } of isBlank ? [] : this.#statuses) {
      const value = values[field]
      if (value === undefined && !status.required) continue
      const judgement = status.judge((textOf(value) ?? '?').toLowerCase(), method)
      if (judgement.kind === 'left out') return leftOut(judgement.reason, recipient)
      if (judgement.kind === 'unknown' && !fault) {
        return rejected('unknown status', field, `the value of ${name} is unknown`)
      }
    }
    if (recipient === '' && this.#others.some(field => textOf(values[field]) !== '')) {
      return leftOut(`not ${method}`, null)
    }
    if (fault) return rejected(fault.reason, RECIPIENT, fault.message)
    return this.#settingsOf({ recipient, cleaned }, values)
  }

  #settingsOf(who: Who, values: readonly unknown[]): RowVerdict {
    const written = textOf(values[LOCALE])
    const { defaultLocale, locales } = this.#rules
    const locale = written === '' ? defaultLocale : written && (locales.get(localeKey(written)) ?? written)
    if (written === '' && locale === null) {
      return rejected('no locale', LOCALE, 'the row has no locale, and --default-locale was not given')
    }
    if (locale === null || !this.#isLocale(locale)) {
      return { ...NOT_A_LOCALE, value: locale ?? '' }
    }
    return this.#scopeOf(who, locale, values)
  }

  #scopeOf(who: Who, locale: string, values: readonly unknown[]): RowVerdict {
    const { preset, all: isAllByDefault } = this.#rules
    const written = textOf(values[ALL])
    const all = written === '' ? null : written === null ? undefined : (booleanOf(written) ?? undefined)
    if (all === undefined)
      return rejected('not yes or no', ALL, 'all must be true or false (or yes, no, 1, 0)')
    if (all) return { kind: 'good', ...who, all, componentIds: [], locale }
    const components = componentsOf(values[COMPONENT_IDS], preset?.componentKey)
    if (components === null || !components.ids.every(isSound)) {
      return rejected(
        'not components',
        COMPONENT_IDS,
        'component ids must be separated by | ; , or spaces, or be a JSON array of ids',
      )
    }
    const { ids, isList } = components
    if (ids.some(isRounded)) return rejected('not components', COMPONENT_IDS, ROUNDED)
    if (ids.length > 0) return this.#mapped(who, locale, ids)
    const coversAll = all === null && (isAllByDefault || (isList && preset?.emptyListIsAll === true))
    if (coversAll) return { kind: 'good', ...who, all: true, componentIds: [], locale }
    return rejected(
      'neither all nor components',
      all === null ? COMPONENT_IDS : ALL,
      all === null
        ? 'the row names neither all nor components; with --all such rows get all components'
        : 'the row is not for all components, and does not name any',
    )
  }

  #mapped(who: Who, locale: string, ids: readonly string[]): RowVerdict {
    const { components, method } = this.#rules
    if (!components) return { kind: 'good', ...who, all: false, componentIds: ids, locale }
    const unmapped = ids.filter(id => !components.has(id))
    if (unmapped.length > 0) {
      // The id of a component has no @. The form of recipients of another method is unknown.
      const shown = unmapped.filter(id => method === 'email' && /^[\w-]{1,64}$/.test(id)).join(', ')
      const which = shown === '' ? 'a component' : `component ${shown}`
      return rejected(
        'unmapped component',
        COMPONENT_IDS,
        `${which} is not in the file given by --components`,
      )
    }
    const componentIds = [...new Set(ids.map(id => components.get(id) ?? id))]
    return { kind: 'good', ...who, all: false, componentIds, locale }
  }
}

const NOT_A_LOCALE = {
  kind: 'rejected',
  reason: 'not a locale',
  field: LOCALE,
  message:
    'a locale is a language and a region that exist, such as en-US; --map-locale de=de-DE maps de to a locale',
} as const

function rejected(reason: string, field: number, message: string): RowVerdict {
  return { kind: 'rejected', reason, field, message }
}

function leftOut(reason: string, recipient: string | null): RowVerdict {
  return { kind: 'left out', reason, recipient: recipient === '' ? null : recipient }
}
