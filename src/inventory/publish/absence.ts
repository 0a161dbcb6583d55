import type { Pool } from 'pg'
import type { ListedRows } from '#src/inventory/read/listed-rows.ts'
import type { InventorySource, ListRequest } from '#src/inventory/source.ts'
import { countCurrent, currentIds, thoseCurrent } from './current-versions.ts'
import type { Absence } from './decide.ts'

/** Finds the current rows in scope that a listing lacks. */
export async function findAbsent<Row>(
  pool: Pool,
  { table, folders }: InventorySource<Row>,
  account: string,
  listed: ListedRows,
): Promise<Absence> {
  const unlisted = listed.unlisted()
  if (unlisted !== null) {
    if (unlisted.length === 0) return NOTHING_ABSENT
    const absent = await thoseCurrent(pool, table, account, folders, unlisted)
    if (absent.length === 0) return NOTHING_ABSENT
    return { absent, current: await countCurrent(pool, table, account, folders) }
  }
  const absent: string[] = []
  let current = 0
  for await (const ids of currentIds(pool, table, account, folders)) {
    current += ids.length
    for (const id of ids) if (!listed.isListed(id)) absent.push(id)
  }
  return { absent, current }
}

/** How many rows are current matters only if one of them is absent. */
const NOTHING_ABSENT: Absence = { absent: [], current: 0 }

/** Returns a function that tells whether ids are exactly those stored as current. */
export function knownSetCheck<Row>(
  pool: Pool,
  { table }: Pick<InventorySource<Row>, 'table'>,
  account: string,
): ListRequest['isKnownSet'] {
  return async ids => {
    let current = 0
    for await (const known of currentIds(pool, table, account, null)) {
      if (!known.every(id => ids.has(id))) return false
      current += known.length
    }
    return current === ids.size
  }
}
