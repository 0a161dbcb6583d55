/** SQL of an instant as text in UTC, exact to the microsecond: of two such texts, the later instant has the greater one. */
export function keyInstant(column: string): string {
  return `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`
}
