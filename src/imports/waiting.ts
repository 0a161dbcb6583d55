/** While a wait hangs on calls in flight, which end at an unknown moment, it is looked up again this often. */
const SOON_MS = 50

/** However long the wait, somebody may pause the import meanwhile. */
const LOOK_EVERY_MS = 1_000

/** In how many milliseconds to ask again for what was not to be had. */
export function lookAgainMs({
  waitMs,
  sooner,
}: {
  readonly waitMs: number
  readonly sooner?: boolean
}): number {
  return Math.max(1, Math.min(waitMs, sooner ? SOON_MS : LOOK_EVERY_MS))
}
