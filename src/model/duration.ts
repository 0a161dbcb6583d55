export const DAY_MS = 86_400_000

/** The longest delay of a timer: Node fires a longer one at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1

/** The same for people: a little less, in whole hours. */
export const LONGEST_TIMER = '596h'

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const

/** Milliseconds of `500ms`, `60s`, `5m` or `6h`; undefined for anything else. */
export function parseDuration(text: string): number | undefined {
  const [, digits, unit] = /^(\d{1,9})(ms|s|m|h)$/.exec(text) ?? []
  return unit === undefined ? undefined : Number(digits) * UNIT_MS[unit as keyof typeof UNIT_MS]
}
