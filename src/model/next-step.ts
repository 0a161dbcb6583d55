/** A command that is ready to be run, and what it does. */
export type NextStep = { readonly command: string; readonly does: string }

/** Says what a person may do next: one sentence with every command, or nothing if there is none. */
export function stepsInWords(steps: readonly NextStep[]): string {
  const parts = steps.map(({ command, does }) => `\`${command}\` ${does}`)
  return parts.length === 0 ? '' : `${parts.join(', ')}.`
}
