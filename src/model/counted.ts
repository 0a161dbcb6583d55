/** A number with groups of three, whatever the language of the machine is: `1,234,567`. */
export function number(value: number | bigint): string {
  return value.toLocaleString('en-US')
}

/** `1 row`, `1,234 rows`. With a verb: `1 row was`, `2 rows were`, if `things` says so. */
export function counted(value: number, thing: string, things = `${thing}s`): string {
  return `${number(value)} ${value === 1 ? thing : things}`
}

/** The verb of a count that something stands between: `1 of 3 rows is`. */
export function isOrAre(count: number): string {
  return count === 1 ? 'is' : 'are'
}

/** The pronoun of a count: `1 row ...: remove it`. */
export function itOrThem(count: number): string {
  return count === 1 ? 'it' : 'them'
}

/** `62 %`; a part is never rounded to nothing or to all. */
export function share(part: number, whole: number): string {
  if (part === 0 || whole === 0) return '0 %'
  const percent = (part / whole) * 100
  if (percent < 1) return '< 1 %'
  return part < whole && percent > 99 ? '> 99 %' : `${Math.round(percent)} %`
}
