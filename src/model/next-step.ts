/** A command that is ready to be run, and what it does. */
export type NextStep = { readonly command: string; readonly does: string }

/** Describes the next steps: one sentence with every command, or '' without steps. */
export function stepsInWords(steps: readonly NextStep[]): string {
  const parts = steps.map(({ command, does }) => `\`${command}\` ${does}`)
  return parts.length === 0 ? '' : `${parts.join(', ')}.`
}

/** Returns the steps whose commands a text does not name already. */
export function stepsBeside(
  text: string | null | undefined,
  steps: readonly NextStep[],
): readonly NextStep[] {
  return steps.filter(({ command }) => !text?.includes(`\`${command}\``))
}
