/** What Grafana puts into a query: the time chosen, the length of an interval, and the values of variables. */
export type GrafanaContext = {
  readonly from: Date
  readonly to: Date
  readonly intervalS: number
  readonly variables: Readonly<Record<string, readonly string[]>>
}

/**
 * Expands a query as Grafana's Postgres data source does: the macros that Ferry's dashboards use, `$__interval`, and
 * variables with several values. Throws if anything that looks like a macro or a variable is left.
 */
export function expandQuery(query: string, { from, to, intervalS, variables }: GrafanaContext): string {
  const [fromText, toText] = [from, to].map(at => `'${at.toISOString()}'`)
  const expanded = query
    .replaceAll(/\$__timeFilter\(([\w.]+)\)/g, `$1 BETWEEN ${fromText} AND ${toText}`)
    .replaceAll(
      /\$__timeGroup\(([\w.]+), \$__interval\)/g,
      `floor(extract(epoch from $1)/${intervalS})*${intervalS}`,
    )
    .replaceAll('$__timeFrom()', `${fromText}`)
    .replaceAll('$__timeTo()', `${toText}`)
    .replaceAll(/\$(\w+)/g, (text, name) => variables[name]?.map(quoted).join() ?? text)
  const [left] = /\$\w+/.exec(expanded) ?? []
  if (left) throw new Error(`nothing expands ${left}`)
  return expanded
}

function quoted(value: string): string {
  return `'${value.replaceAll("'", "''")}'`
}
