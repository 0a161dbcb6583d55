const SHAPE = /^([a-z]{2,3})-([A-Z]{2}|\d{3})$/
/** A file has few locales; one that has many has something else in that column. */
const MAX_REMEMBERED = 10_000

/** Returns a check for `<language>-<REGION>` with a language and a region that exist. */
export function openLocaleCheck(): (locale: string) => boolean {
  const languages = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' })
  const regions = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })
  const known = new Map<string, boolean>()

  function isReal(locale: string): boolean {
    const [, language = '', region = ''] = SHAPE.exec(locale) ?? []
    // ZZ is the unknown region of CLDR.
    if (language === '' || region === 'ZZ') return false
    return languages.of(language) !== undefined && regions.of(region) !== undefined
  }

  return locale => {
    const before = known.get(locale)
    if (before !== undefined) return before
    const real = isReal(locale)
    if (known.size < MAX_REMEMBERED) known.set(locale, real)
    return real
  }
}

/** Returns the form in which locales of a file are compared: `EN_us` is `en-us`. */
export function localeKey(locale: string): string {
  return locale.toLowerCase().replaceAll('_', '-')
}
