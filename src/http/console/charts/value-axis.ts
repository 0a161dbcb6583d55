/** A mark of an axis, with where it stands as a share of the axis, from 0 to 1. */
export type Tick = {
  readonly share: number
  readonly label: string
  /** Every second one: a narrow screen leaves its label out. */
  readonly isMinor: boolean
}

/** An axis of values from 0 to `top`. */
export type ValueAxis = { readonly top: number; readonly ticks: readonly Tick[] }

const WANTED_STEPS = 4
/** Beyond these, steps are no exact numbers any more. */
const LARGEST = 1e300
const LEAST = 1e-300

/**
 * An axis from 0 to the first round step that is not below any value. Its steps are 1, 2, 2.5 or 5 times a power of ten, whole
 * numbers if `isWhole`; there are at most six ticks. Without a value above 0 it goes to 1.
 */
export function valueAxis(
  values: Iterable<number | null>,
  format: (value: number) => string = shortNumber,
  isWhole = false,
): ValueAxis {
  let max = 0
  for (const value of values) if (isDrawn(value)) max = Math.max(max, value)
  const highest = max < LEAST ? 0 : Math.min(max, LARGEST)
  const step = roundStep(highest / WANTED_STEPS, isWhole)
  const steps = Math.max(1, Math.ceil(highest / step - 1e-9))
  const top = exact(steps * step)
  const ticks = Array.from({ length: steps + 1 }, (_, n) => ({
    share: n / steps,
    label: format(exact(n * step)),
    isMinor: n % 2 === 1,
  }))
  return { top, ticks }
}

/** Whether a value can be drawn: it is known and finite. */
export function isDrawn(value: number | null): value is number {
  return value !== null && Number.isFinite(value)
}

/** Where a value stands on an axis, from 0 to 1. */
export function shareOf(value: number, { top }: ValueAxis): number {
  return Math.min(Math.max(value / top, 0), 1)
}

function roundStep(least: number, isWhole: boolean): number {
  if (!(least > 0)) return 1
  const power = 10 ** Math.floor(Math.log10(least))
  const isAllowed = (step: number) => step >= least * (1 - 1e-9) && (!isWhole || Number.isInteger(step))
  return [1, 2, 2.5, 5, 10].map(times => exact(times * power)).find(isAllowed) ?? 1
}

/** Without the noise of binary fractions: 0.3, not 0.30000000000000004. */
function exact(value: number): number {
  return Number(value.toPrecision(12))
}

const SHORT = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 2 })
const PLAIN = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 4 })

/** A number for an axis: `0.25`, `9,500`, `12K`, `1.5M`; `1e+200` for one that nobody can read. */
export function shortNumber(value: number): string {
  if (Math.abs(value) >= 1e15) return value.toPrecision(2)
  return (Math.abs(value) < 10_000 ? PLAIN : SHORT).format(value)
}
