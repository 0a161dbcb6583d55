/** The exit codes and their meaning. */
export const EXIT = {
  done: 0,
  failed: 1,
  /** Wrong usage or configuration. */
  usage: 2,
  /** Done in part, or with rejects. */
  partial: 3,
  /** Refused by the platform: 401, 402, 403. */
  refused: 4,
  /** A person must decide. */
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

/** Returns the exit code of a command that did several things: the most serious one. */
export function gravest(codes: readonly ExitCode[]): ExitCode {
  return GRAVEST_FIRST.find(code => codes.includes(code)) ?? EXIT.done
}
