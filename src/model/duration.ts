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

const UNITS = [
  [DAY_MS, 'd'],
  [UNIT_MS.h, 'h'],
  [UNIT_MS.m, 'min'],
  [UNIT_MS.s, 's'],
] as const

/** A duration for people, in its two largest units: `2 d 3 h`, `4 min 5 s`, `2.1 s`, `320 ms`. */
export function duration(ms: number): string {
  if (ms < 0) return `−${duration(-ms)}`
  if (Math.round(ms) < UNIT_MS.s) return `${Math.round(ms)} ms`
  if (ms < UNIT_MS.m) return `${Number((ms / UNIT_MS.s).toFixed(1))} s`
  const parts: string[] = []
  let left = ms
  for (const [size, unit] of UNITS.slice(UNITS.findIndex(([size]) => size <= ms)).slice(0, 2)) {
    const whole = Math.floor(left / size)
    left -= whole * size
    if (whole > 0) parts.push(`${whole} ${unit}`)
  }
  return parts.join(' ')
}
