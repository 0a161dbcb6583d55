/** Returns the row of a statement that always returns one, such as an aggregate. Throws, and names it, if it returned none. */
export function onlyRow<Row>([row]: readonly Row[], statement: string): Row {
  if (row === undefined) throw new Error(`${statement} returned no row`)
  return row
}

/** Returns how many rows an insert, update, delete or select was about. Throws for a statement that is none of them. */
export function countOf({ rowCount }: { readonly rowCount: number | null }): number {
  if (rowCount === null) throw new Error('the statement does not tell how many rows it was about')
  return rowCount
}
