import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Lab } from './lab.ts'
import type { SandboxProcess } from './sandbox-process.ts'

export function accountNames(count: number): string[] {
  return Array.from({ length: count }, (_, number) => `account-${number}`)
}

/**
 * Settings for accounts of Ferry with a key each. They are one account of the platform, or, with `accountIdOf`, one each.
 */
export async function accountSettings(
  lab: Lab,
  sandbox: SandboxProcess,
  names: readonly string[],
  accountIdOf?: (number: number) => bigint,
): Promise<Record<string, string>> {
  const directory = await mkdtemp(join(tmpdir(), 'ferry-bench-accounts-'))
  lab.defer(() => rm(directory, { recursive: true, force: true }))
  const keys: Record<string, string> = {}
  for (const [number, name] of names.entries()) {
    keys[`BENCH_KEY_${number}`] = `key-of-${name}`
    const accountId = accountIdOf?.(number).toString()
    await sandbox.admin('add-key', { key: `key-of-${name}`, ...(accountId && { accountId }) })
  }
  const accounts = names.map((name, number) => ({
    name,
    baseUrl: sandbox.baseUrl,
    appKeyEnv: `BENCH_KEY_${number}`,
    limitGroup: accountIdOf ? name : 'one',
  }))
  const file = join(directory, 'accounts.json')
  await writeFile(file, JSON.stringify({ accounts }))
  return { ...keys, FERRY_ACCOUNTS_FILE: file }
}
