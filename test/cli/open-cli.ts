import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { SandboxOptions } from '#src/sandbox/options.ts'
import { openWorld, type World } from '#test/support/world.ts'
import { type Ended, type Env, type RunningFerry, runFerry, startFerry } from './run-ferry.ts'

export type Cli = World & {
  readonly env: Env
  ferryRun(args: string, env?: Env): Promise<Ended>
  ferryStart(args: string, env?: Env): RunningFerry
}

/** A world, and the command line in processes of its own on the same database and sandbox. */
export async function openCli(
  sandboxOptions: Partial<SandboxOptions> = {},
  settings: Env = {},
): Promise<Cli> {
  const world = await openWorld(sandboxOptions, settings)
  const env = {
    DATABASE_URL: world.databaseUrl,
    FERRY_DATA_DIR: join(tmpdir(), `ferry-cli-nowhere-${process.pid}`),
    FERRY_BASE_URL: world.sandbox.baseUrl,
    FERRY_APP_KEY: world.sandbox.appKey,
    ...settings,
  }
  return Object.assign(world, {
    env,
    ferryRun: (args: string, more: Env = {}) => runFerry(args.split(' '), { ...env, ...more }),
    ferryStart: (args: string, more: Env = {}) => startFerry(args.split(' '), { ...env, ...more }),
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
