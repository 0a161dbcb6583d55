import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { filesIn } from './cluster.ts'
import { PostgresOfOtherMajor } from './errors.ts'
import type { Placement } from './placement.ts'

/** Returns the major version of the Postgres that made the files in `home`, or undefined if there are none. */
export async function majorOf(home: string): Promise<number | undefined> {
  const text = await readFile(join(filesIn(home).data, 'PG_VERSION'), 'utf8').catch(() => '')
  return Number.parseInt(text, 10) || undefined
}

/** Throws `PostgresOfOtherMajor` if these programs cannot read the files. Nothing was touched then. */
export async function expectSameMajor({ home, binaries }: Placement): Promise<void> {
  const major = await majorOf(home)
  if (major !== undefined && major !== binaries.major)
    throw new PostgresOfOtherMajor(home, major, binaries.major)
}
