/** A number with groups of three, whatever the language of the machine is: `1,234,567`. */
export function number(value: number | bigint): string {
  return value.toLocaleString('en-US')
}

/** `1 row`, `1,234 rows`. */
export function counted(value: number, thing: string, things = `${thing}s`): string {
  return `${number(value)} ${value === 1 ? thing : things}`
}
