import { z } from 'zod'
import type { Operation } from '#src/model/call.ts'

/**
 * Whether the sandbox does the work although the answer says otherwise. `half` is the first half of a batch of
 * subscribers: the contract does not say that a batch is accepted as a whole or not at all.
 */
const applied = z.union([z.boolean(), z.literal('half')]).default(false)
export type Applied = z.output<typeof applied>

/**
 * A kind of failure. `late`, `truncate`, `huge` and the broken 2xx do the work first, as a platform behind a bad
 * network would; `error`, `drop`, `hang` and `html` do it only if `applied`.
 */
export const Fault = z.discriminatedUnion('kind', [
  /** A code of section 7 or any other, with its usual HTTP status or another. */
  z.strictObject({
    kind: z.literal('error'),
    code: z.string(),
    status: z.int().min(400).max(599).optional(),
    message: z.string().optional(),
    retryAfterS: z.number().optional(),
    applied,
  }),
  /** Closes the connection without an answer. */
  z.strictObject({ kind: z.literal('drop'), applied }),
  /** Keeps the connection open and never answers. */
  z.strictObject({ kind: z.literal('hang'), applied }),
  /** A gateway's page instead of the envelope. */
  z.strictObject({ kind: z.literal('html'), status: z.int().default(502), applied }),
  z.strictObject({ kind: z.literal('late'), ms: z.number() }),
  /** Sends half the body, then closes the connection. */
  z.strictObject({ kind: z.literal('truncate') }),
  /** HTTP 200 whose body holds an `error` and no `data`. */
  z.strictObject({ kind: z.literal('error-in-2xx'), code: z.string() }),
  z.strictObject({ kind: z.literal('no-data') }),
  z.strictObject({ kind: z.literal('no-request-id') }),
  z.strictObject({ kind: z.literal('empty') }),
  z.strictObject({ kind: z.literal('wrong-types') }),
  /** The right answer, followed by this many bytes of white space: valid JSON, but too long. */
  z.strictObject({ kind: z.literal('huge'), bytes: z.int() }),
  /** This HTTP status and this body, unchanged. */
  z.strictObject({
    kind: z.literal('raw'),
    status: z.int(),
    body: z.string(),
    contentType: z.string().default('application/json'),
  }),
])
export type Fault = z.output<typeof Fault>
/** A fault as a caller writes it, without the fields that have a default. */
export type FaultInput = z.input<typeof Fault>

/** Which calls fail: of one operation or of any; the `nth` from now (1 is the next), every n-th (`every`), or all. */
export type When = {
  readonly operation?: Operation | undefined
  readonly nth?: number | undefined
  readonly every?: number | undefined
}

type Injection = { readonly fault: Fault; readonly when: When; seen: number }

/** The injected faults. If several apply to a call, the first injected is used, and all of them count the call. */
export class Faults {
  #injected: Injection[] = []

  inject(fault: FaultInput, when: When = {}): void {
    this.#injected.push({ fault: Fault.parse(fault), when, seen: 0 })
  }

  clear(): void {
    this.#injected = []
  }

  /** Returns the fault for the current call. */
  next(operation: Operation): Fault | null {
    const due: Injection[] = []
    for (const injection of this.#injected) {
      const { when } = injection
      if (when.operation !== undefined && when.operation !== operation) continue
      injection.seen++
      const isNth = when.nth === undefined || when.nth === injection.seen
      if (isNth && injection.seen % (when.every ?? 1) === 0) due.push(injection)
    }
    return due[0]?.fault ?? null
  }
}
