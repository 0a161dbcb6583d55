import { statSync } from 'node:fs'
import type { Pool } from 'pg'
import { ImportRefuses } from '#src/imports/errors.ts'
import { saveRejects, writeRejects } from '#src/imports/reporting/rejects.ts'
import { findSummaryRow } from '#src/imports/reporting/summary.ts'
import { counted } from '#src/model/counted.ts'
import { UsageError } from '../errors.ts'
import { EXIT, type ExitCode } from '../exit.ts'
import { asPrinted, instant, printAside, printJson, shownPath } from '../output.ts'

/** Writes the rejected rows of an import to a new file, or to stdout. */
export async function writeRejectsOf(
  pool: Pool,
  id: bigint,
  { json, ...options }: { out?: string; json?: true },
): Promise<ExitCode> {
  const out = options.out === '-' ? undefined : options.out
  if (json && out === undefined)
    throw new UsageError('the rejected rows are written to stdout, so --json needs --out FILE')
  const { purgedAt } = await findSummaryRow(pool, id)
  if (purgedAt !== null) {
    throw new ImportRefuses(
      `the rows of import ${id} were purged at ${instant(purgedAt)}: nothing is left to write`,
    )
  }
  if (out === undefined) return toStdout(pool, id)
  if (isFile(out)) {
    throw new UsageError(`${shownPath(out)} already exists; name a new file`)
  }
  const rejects = await saveRejects(pool, id, out)
  if (json) printJson({ import: id, rejects, file: out })
  else printAside(`${counted(rejects, 'rejected row')} written to ${shownPath(out)}.`)
  return EXIT.done
}

/** A path that cannot be read cannot be written either; the error of writing it explains why. */
function isFile(path: string): boolean {
  try {
    return statSync(path).isFile()
  } catch {
    return false
  }
}

/** A reader that closes the pipe early is not a failure. */
async function toStdout(pool: Pool, id: bigint): Promise<ExitCode> {
  await writeRejects(pool, id, process.stdout, asPrinted).catch(error => {
    if (error.code !== 'EPIPE') throw error
  })
  return EXIT.done
}
