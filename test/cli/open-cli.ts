import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { SandboxOptions } from '#src/sandbox/options.ts'
import { type FerryHarness, openFerryHarness } from '#test/support/ferry-harness.ts'
import { type Ended, type Env, type RunningFerry, runFerryHere, startFerry } from './run-ferry.ts'

export type Cli = FerryHarness & {
  readonly env: Env
  /** Runs a command to its end, in this process. */
  ferryRun(args: string, env?: Env): Promise<Ended>
  /** Starts a command in a process of its own. */
  ferryStart(args: string, env?: Env): RunningFerry
}

/** A harness, and the command line on the same database and sandbox. */
export async function openCli(
  sandboxOptions: Partial<SandboxOptions> = {},
  settings: Env = {},
): Promise<Cli> {
  const harness = await openFerryHarness(sandboxOptions, settings)
  const env = {
    DATABASE_URL: harness.databaseUrl,
    FERRY_DATA_DIR: join(tmpdir(), `ferry-cli-nowhere-${process.pid}`),
    FERRY_BASE_URL: harness.sandbox.baseUrl,
    FERRY_APP_KEY: harness.sandbox.appKey,
    ...settings,
  }
  return Object.assign(harness, {
    env,
    ferryRun: (args: string, more: Env = {}) => runFerryHere(args.split(' '), { ...env, ...more }),
    ferryStart: (args: string, more: Env = {}) => startFerry(args.split(' '), { ...env, ...more }),
  })
}

/** Runs `ferry sync alert-rules` with the one account `name`, which only this command has; `wrongKey` makes it fail. */
export async function syncAs(cli: Cli, name: string, { wrongKey = false } = {}): Promise<Ended> {
  return cli.ferryRun('sync alert-rules', {
    FERRY_BASE_URL: '',
    FERRY_APP_KEY: '',
    FERRY_ACCOUNTS_FILE: accountsFile({ name, baseUrl: cli.sandbox.baseUrl, appKeyEnv: 'KEY' }),
    KEY: wrongKey ? 'wrong' : cli.sandbox.appKey,
  })
}

/** The path of an accounts file with these entries; it is gone at the end of the test. */
export function accountsFile(...accounts: readonly object[]): string {
  const directory = mkdtempSync(join(tmpdir(), 'ferry-cli-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const path = join(directory, 'accounts.json')
  writeFileSync(path, JSON.stringify({ accounts }))
  return path
}
