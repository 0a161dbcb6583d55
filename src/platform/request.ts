import type { Operation } from '#src/model/call.ts'
import type { Scrub, Verdict } from './answer.ts'
import { stringifyLossless } from './lossless-json.ts'
import type { Answered, Post } from './post.ts'

/** A question to the platform, and how its answer is read: `receive` yields `Step`s while it comes. */
export type PlatformRequest<Step, Body, T> = {
  readonly operation: Operation
  readonly body: Buffer
  readonly receive: Post<Step, Body>['receive']
  readonly read: (answer: Answered<Body>, scrub: Scrub) => Verdict<T>
}

export function jsonBytes(value: unknown): Buffer {
  return Buffer.from(stringifyLossless(value))
}
