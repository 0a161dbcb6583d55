import { hostname, userInfo } from 'node:os'
import { type Command, InvalidArgumentError } from 'commander'
import { type ActedBy, MAX_ACTOR_CHARACTERS, MAX_BECAUSE_CHARACTERS } from '#src/model/act.ts'

/** Who decides, and why, as the command line gives it. */
export type ActOptions = { readonly as?: string; readonly because?: string }

/** Adds the options for who decides and why. `flag` is the option for the name. */
export function addActOptions(command: Command, flag = '--as'): Command {
  return command
    .option(`${flag} <name>`, 'who does this, for `ferry audit` (default: user@host)', actorArgument)
    .option('--because <text>', 'why, for `ferry audit`', becauseArgument)
}

/** Returns who acts: the given name, or the user of this process. */
export function actedBy({ as, because }: ActOptions = {}): ActedBy {
  return { actor: as ?? personHere(), because: because ?? null }
}

function personHere(): string {
  try {
    return `${userInfo().username}@${hostname()}`
  } catch {
    // In a container the user may be a number without a name.
    return `uid ${process.getuid?.()}@${hostname()}`
  }
}

function actorArgument(text: string): string {
  return textUpTo(text, MAX_ACTOR_CHARACTERS, 'a name')
}

function becauseArgument(text: string): string {
  return textUpTo(text, MAX_BECAUSE_CHARACTERS, 'a reason')
}

function textUpTo(text: string, max: number, what: string): string {
  if (text.trim() === '' || [...text].length > max) {
    throw new InvalidArgumentError(`Write ${what} of at most ${max} characters.`)
  }
  return text
}
