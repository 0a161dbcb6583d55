import type { Pool } from 'pg'
import { reasonOf } from '#src/model/reason.ts'
import { freeSpace } from './disk-space.ts'

/** Postgres had no room for the rows of a file: none of them was stored. */
export class DiskFull extends Error {
  override readonly name = 'DiskFull'
  readonly whatToDo: string

  constructor(what: string, whatToDo: string, options: ErrorOptions) {
    super(`The disk of Postgres is full: nothing of the file was stored${what}.`, options)
    this.whatToDo = whatToDo
  }
}

const MAKE_ROOM = 'Free disk space (a million rows take about 250 MB), then run this again.'

/** Frees the space that was written before the disk was full. Returns the error to throw. */
export async function afterDiskFull(pool: Pool, cause: Error, isDryRun: boolean): Promise<DiskFull> {
  // A dry run writes to temporary tables, which are gone with its transaction.
  if (isDryRun) return new DiskFull('', MAKE_ROOM, { cause })
  try {
    const bytes = await freeSpace(pool)
    const freed = bytes > 1e6 ? `, and ${Math.round(bytes / 1e6)} MB were freed` : ''
    return new DiskFull(freed, MAKE_ROOM, { cause })
  } catch (error) {
    return new DiskFull(
      '',
      `${MAKE_ROOM} The space that was written is freed when Postgres vacuums its tables; vacuuming them failed now (${reasonOf(error)}).`,
      { cause },
    )
  }
}
