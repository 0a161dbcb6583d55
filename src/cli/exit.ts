/** What an exit code says. */
export const EXIT = {
  done: 0,
  failed: 1,
  /** Wrong usage or configuration. */
  usage: 2,
  /** Done, but with rejects or only in part. */
  partial: 3,
  /** Refused by the platform: 401, 402, 403. */
  refused: 4,
  /** Somebody must decide. */
  undecided: 5,
  interrupted: 130,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

const GRAVEST_FIRST: readonly ExitCode[] = [
  EXIT.interrupted,
  EXIT.usage,
  EXIT.refused,
  EXIT.undecided,
  EXIT.failed,
  EXIT.partial,
]

/** The one code of a command that did several things. */
export function gravest(codes: readonly ExitCode[]): ExitCode {
  return GRAVEST_FIRST.find(code => codes.includes(code)) ?? EXIT.done
}
