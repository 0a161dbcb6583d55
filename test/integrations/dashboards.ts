import { readdirSync } from 'node:fs'
import { integration, readIntegration } from './files.ts'

type DataSource = { readonly type: string; readonly uid: string }
type Target = { readonly datasource: DataSource; readonly format: string; readonly rawSql: string }
export type Panel = {
  readonly id: number
  readonly type: string
  readonly title: string
  readonly datasource: DataSource
  readonly targets: readonly Target[]
  readonly gridPos: Readonly<Record<'x' | 'y' | 'w' | 'h', number>>
  readonly fieldConfig: { readonly overrides: readonly { readonly matcher: { readonly options: string } }[] }
}
export type Dashboard = {
  readonly uid: string
  readonly title: string
  readonly panels: readonly Panel[]
  readonly annotations: {
    readonly list: readonly {
      readonly name: string
      readonly datasource: DataSource
      readonly target: Target
    }[]
  }
  readonly templating: {
    readonly list: readonly {
      readonly name: string
      readonly datasource: DataSource
      readonly query: string
    }[]
  }
}

export const DASHBOARDS: readonly Dashboard[] = readdirSync(integration('grafana/dashboards')).map(file =>
  JSON.parse(readIntegration(`grafana/dashboards/${file}`)),
)

export type Query = {
  readonly dashboard: string
  /** `stat`, `table`, `timeseries`, `annotation` or `variable`. */
  readonly kind: string
  readonly title: string
  readonly sql: string
  readonly datasource: DataSource
  /** Columns that the panel gives a unit or a colour. */
  readonly formatted: readonly string[]
}

/** Every query that Grafana would send. */
export const QUERIES: readonly Query[] = DASHBOARDS.flatMap(({ title: dashboard, ...board }) => [
  ...board.panels.flatMap(({ type: kind, title, targets, fieldConfig }) =>
    targets.map(({ rawSql: sql, datasource }) => ({
      dashboard,
      kind,
      title,
      sql,
      datasource,
      formatted: fieldConfig.overrides.map(override => override.matcher.options),
    })),
  ),
  ...board.annotations.list.map(({ name: title, target: { rawSql: sql, datasource } }) => ({
    dashboard,
    kind: 'annotation',
    title,
    sql,
    datasource,
    formatted: [],
  })),
  ...board.templating.list.map(({ name: title, query: sql, datasource }) => ({
    dashboard,
    kind: 'variable',
    title,
    sql,
    datasource,
    formatted: [],
  })),
])
