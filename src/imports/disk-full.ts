import type { Pool } from 'pg'
import { reasonOf } from '#src/model/reason.ts'
import { giveBackSpace } from '#src/store/imports/full-disk.ts'

/** Postgres had no room for the rows of a file: none of them was stored. */
export class DiskFull extends Error {
  override readonly name = 'DiskFull'
  readonly whatToDo: string

  constructor(what: string, whatToDo: string, options: ErrorOptions) {
    super(`The disk of Postgres is full: nothing of the file was stored${what}.`, options)
    this.whatToDo = whatToDo
  }
}

const MAKE_ROOM = 'Make room (a million rows take about 250 MB), then run this again.'

/** Gives back what was written before the disk was full, and returns the error that says so. */
export async function afterDiskFull(pool: Pool, cause: Error, isDryRun: boolean): Promise<DiskFull> {
  // What a dry run writes is gone with its transaction.
  if (isDryRun) return new DiskFull('', MAKE_ROOM, { cause })
  try {
    const bytes = await giveBackSpace(pool)
    const given = bytes > 1e6 ? `, and ${Math.round(bytes / 1e6)} MB were given back` : ''
    return new DiskFull(given, MAKE_ROOM, { cause })
  } catch (error) {
    return new DiskFull(
      '',
      `${MAKE_ROOM} What was written is given back when Postgres vacuums its tables; that failed now (${reasonOf(error)}).`,
      { cause },
    )
  }
}
