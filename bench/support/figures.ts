/** What one bench measured. With a floor, the ratio to it is what is judged; else the value. */
export type Figure = {
  readonly measure: string
  /** Null if it could not be measured: then `missing` says why. */
  readonly value: number | null
  readonly missing?: string
  readonly unit: Unit
  readonly floor?: number
  /** What each round measured, in milliseconds or megabytes: how noisy it was. Kept, not printed. */
  readonly rounds?: Readonly<Record<string, readonly number[]>>
  /** None: printed for information. */
  readonly wanted?: Wanted
}

export type Unit =
  | 's'
  | 'ms'
  | 'MB'
  | 'kB'
  | 'calls'
  | 'findings'
  | '%'
  | 'rows'
  | 'transactions'
  | 'runs'
  | 'imports'
  | 'connections'

export type Wanted = {
  readonly kind: 'at most' | 'at least'
  readonly good: number
  /** What still passes; `good` if left out. */
  readonly must?: number
  /** A law rather than a speed: it holds for small sizes too, so `--quick` judges it. */
  readonly always?: boolean
}

export type Verdict = 'good' | 'passes' | 'MISSED' | 'not judged'

export function atMost(good: number, more: Pick<Wanted, 'must' | 'always'> = {}): Wanted {
  return { kind: 'at most', good, ...more }
}

export function atLeast(good: number, more: Pick<Wanted, 'must' | 'always'> = {}): Wanted {
  return { kind: 'at least', good, ...more }
}

export function ratioOf({ value, floor }: Figure): number | null {
  return floor === undefined || value === null ? null : value / floor
}

export function judge(figure: Figure, quick: boolean): Verdict {
  const { wanted, value } = figure
  if (!wanted || (quick && !wanted.always)) return 'not judged'
  if (value === null) return 'MISSED'
  const judged = ratioOf(figure) ?? value
  const meets = (bound: number) => (wanted.kind === 'at most' ? judged <= bound : judged >= bound)
  if (meets(wanted.good)) return 'good'
  return wanted.must !== undefined && meets(wanted.must) ? 'passes' : 'MISSED'
}

/** The middle one; of an even number, the lower of the two. */
export function median(values: readonly number[]): number {
  return percentile(values, 0.5)
}

/** The least of the values that `share` (0 to 1) of all of them do not exceed (nearest rank). Throws if there are none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  const value = sorted[Math.max(Math.ceil(sorted.length * share), 1) - 1]
  if (value === undefined) throw new Error('there is nothing to take a percentile of')
  return value
}
