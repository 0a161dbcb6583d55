import type { Exchange, SandboxOptions } from '#src/sandbox/options.ts'
import { openSandbox, type Sandbox } from '#src/sandbox/sandbox.ts'
import { answerProblems, requestProblems } from './contract/check.ts'

export type CheckedSandbox = Sandbox & {
  /** From now on its rows may break the contract: a test has made them so on purpose. */
  breakContract(): void
}

/**
 * A sandbox that holds whatever Ferry sends it, and whatever it answers, against the contract's text; closing it throws
 * if either broke it. Answers that are faults, or bodies given word for word, are wrong on purpose.
 */
export async function openCheckedSandbox(options: Partial<SandboxOptions> = {}): Promise<CheckedSandbox> {
  const problems = new Set<string>()
  let isBroken = false

  function check(exchange: Exchange): void {
    const { rulesBody, serversBody, emptyAsNull } = sandbox.state
    const isOurs = exchange.headers['user-agent'] === 'ferry'
    const isOnPurpose =
      isBroken || exchange.isFault || rulesBody !== null || serversBody !== null || emptyAsNull
    const found = [
      ...(isOurs ? requestProblems(exchange) : []),
      ...(isOnPurpose ? [] : answerProblems(exchange)),
    ]
    for (const problem of found) problems.add(problem)
  }

  const sandbox = await openSandbox({ ...options, onExchange: check })
  async function dispose(): Promise<void> {
    await sandbox.close()
    if (problems.size > 0) throw new Error(`The contract was broken: ${[...problems].slice(0, 5).join('; ')}`)
  }
  return Object.assign(sandbox, {
    breakContract() {
      isBroken = true
    },
    [Symbol.asyncDispose]: dispose,
  })
}
