import type { IncomingHttpHeaders } from 'node:http'
import type { Answer } from './answer.ts'

/** A call and its answer. */
export type Exchange = {
  readonly method: string
  /** Contains the key. */
  readonly url: string
  readonly headers: IncomingHttpHeaders
  /** Null if it was longer than the platform accepts. */
  readonly text: string | null
  /** Null if there was no answer. */
  readonly answer: Answer | null
  /** Whether the answer is an injected fault. */
  readonly isFault: boolean
}
