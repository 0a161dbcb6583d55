import type { IncomingHttpHeaders } from 'node:http'
import type { Answer } from './answer.ts'

/** A call and what came of it. */
export type Exchange = {
  readonly method: string
  /** Holds the key. */
  readonly url: string
  readonly headers: IncomingHttpHeaders
  /** Null if it was longer than the platform takes. */
  readonly text: string | null
  /** Null if there was none. */
  readonly answer: Answer | null
  /** The answer went wrong on purpose. */
  readonly isFault: boolean
}
