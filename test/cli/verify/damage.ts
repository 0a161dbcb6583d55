/** A check, the damage in SQL, and a part of the sentence that names the row. */
export type Damage = readonly [check: string, damage: string, found: RegExp]

const ONE_OF = (table: string, of: string) => `ctid = (select ctid from ${table} where ${of} limit 1)`

/** Changes one row. */
export const set = (table: string, of: string, changes: string) =>
  `update ferry.${table} set ${changes} where ${ONE_OF(`ferry.${table}`, of)};`

/** Removes one row. */
export const drop = (table: string, of: string) =>
  `delete from ferry.${table} where ${ONE_OF(`ferry.${table}`, of)};`
