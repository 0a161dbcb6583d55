/** Doctor waits this long for an answer of a server, and says so if none came. */
export const ANSWER_WITHIN_MS = 5_000

/** A server took the connection, or did not even do that, and then said nothing. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer'
  readonly whatToDo: string
  constructor(who: string, whatToDo: string) {
    super(`${who} did not answer within ${ANSWER_WITHIN_MS / 1_000} s`)
    this.whatToDo = whatToDo
  }
}

/** Resolves with what `work` resolves with. Throws `late` if that takes too long; what `work` does then is ignored. */
export async function within<T>(work: Promise<T>, late: NoAnswer): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(late), ANSWER_WITHIN_MS)
  work.catch(() => {})
  return Promise.race([work, promise]).finally(() => clearTimeout(timer))
}
