import type { McpTool } from '#src/model/fields.ts'
import type { McpServer } from '#src/model/mcp-server.ts'
import { MAX_UINT64 } from '#src/model/uint64.ts'
import { person } from './people.ts'
import { between, pick, type Random, seededRandom } from './random.ts'
import { SAMPLE_NOW_S, type SampleRequest } from './sample-rules.ts'

const YEAR_MS = 31_536_000_000

/** A product, its purpose, and its tools as `name: what it does`. */
const PRODUCTS = [
  [
    'GitHub',
    'Repositories, issues and pull requests',
    [
      'search_code: Search code across repositories',
      'get_pull_request: Read a pull request',
      'create_issue: Open an issue',
    ],
  ],
  [
    'Grafana',
    'Dashboards and queries',
    [
      'search_dashboards: Find dashboards by title',
      'query_prometheus: Run a PromQL query',
      'query_loki_logs: Run a LogQL query',
    ],
  ],
  [
    'Kubernetes',
    'Read-only view of the clusters',
    [
      'pods_list: List pods of a namespace',
      'pods_log: Read the log of a pod',
      'events_list: List recent events',
    ],
  ],
  [
    'Postgres (replica)',
    'Read-only SQL on the reporting replica',
    ['query: Run a read-only statement', 'describe_table: Columns and indexes of a table'],
  ],
  ['Slack', 'Channels and threads', ['post_message: Post to a channel', 'search_messages: Search messages']],
  [
    'Jira',
    'Tickets and boards',
    ['search_issues: Search with JQL', 'get_issue: Read one ticket', 'add_comment: Comment on a ticket'],
  ],
  ['Confluence', 'Runbooks and post-mortems', ['search_pages: Search pages', 'get_page: Read one page']],
  [
    'Sentry',
    'Errors and releases',
    ['list_issues: Unresolved issues of a project', 'get_event: One event with its stack trace'],
  ],
  ['Cloudflare', 'DNS, cache and WAF', ['list_zones: Zones of the account', 'purge_cache: Purge a URL']],
  [
    'AWS Cost Explorer',
    'What the cloud costs',
    ['get_cost: Cost by service and day', 'get_forecast: Expected cost'],
  ],
  ['Terraform Cloud', 'Plans and workspaces', ['list_workspaces: All workspaces', 'get_plan: Read a plan']],
  ['ClickHouse', 'The warehouse', ['run_select: Run a SELECT', 'list_tables: Tables of a database']],
  ['Elasticsearch', 'Log search', ['search: Run a query', 'list_indices: Indices and their size']],
  ['Vault', 'Names of secrets, never their values', ['list_secrets: Paths below a mount']],
  [
    'Argo CD',
    'What is deployed where',
    ['list_applications: Applications and health', 'get_diff: Live against wanted state'],
  ],
  [
    'Kafka',
    'Topics and consumer groups',
    ['list_topics: Topics with partitions', 'describe_group: Lag of a consumer group'],
  ],
  ['PagerTree', 'Who is on call', ['whoami_oncall: Who is on call now']],
  [
    'OpenTelemetry Traces',
    'Traces by id or attribute',
    ['find_traces: Search traces', 'get_trace: Read a trace'],
  ],
  [
    'Backstage',
    'The service catalogue',
    ['get_owner: Who owns a service', 'search_catalogue: Find a service'],
  ],
  ['Snowflake', 'Finance data', ['run_query: Run a query with row limits']],
] as const

const HOMES = ['platform', 'payments', 'orders', 'catalogue', 'identity', 'data'] as const

/** A realistic MCP server. The same seed and index give the same server; each index has its own name and id. */
export function sampleServer({ seed, index, accountId, hugeIds }: SampleRequest): McpServer<bigint> {
  const random = seededRandom(Math.imul(seed, 0x85ebca6b) ^ index)
  const [product, description, toolLines] = PRODUCTS[index % PRODUCTS.length] as (typeof PRODUCTS)[number]
  const round = Math.floor(index / PRODUCTS.length)
  const home = HOMES[round % HOMES.length] as string
  const copy = Math.floor(round / HOMES.length)
  const name = `${product}${round === 0 ? '' : ` for ${home}${copy === 0 ? '' : ` ${copy + 1}`}`}`
  const tools = toolLines.map(toolOf)
  const createdAt = SAMPLE_NOW_S * 1_000 - between(random, YEAR_MS / 12, YEAR_MS)
  return {
    server_id: serverId(index, hugeIds, random),
    account_id: accountId,
    team_id: random() < 0.4 ? 0n : 5_120_000_000_000n + BigInt(HOMES.indexOf(pick(random, HOMES))),
    can_edit: random() < 0.6,
    server_name: name,
    description,
    transport: pick(random, ['streamable-http', 'streamable-http', 'streamable-http', 'sse', 'stdio']),
    url: `https://mcp.example.com/${name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}`,
    status: random() < 0.85 ? 'enabled' : 'disabled',
    connect_timeout: 10n,
    call_timeout: BigInt(pick(random, [30, 60, 120])),
    tool_count: BigInt(tools.length),
    tools,
    auth_mode: 'shared',
    created_by: person(random).id,
    created_at: BigInt(createdAt),
    updated_at: BigInt(between(random, createdAt, SAMPLE_NOW_S * 1_000)),
  }
}

/** The 2nd, 7th, 12th … server may be at the end of uint64. */
function serverId(index: number, hugeIds: number, random: Random): string {
  const huge = (index - 1) / 5
  if (Number.isInteger(huge) && huge >= 0 && huge < hugeIds) return String(MAX_UINT64 - BigInt(huge))
  return String(6_301_000_000_000n + BigInt(index) * 1_000n + BigInt(between(random, 0, 999)))
}

function toolOf(line: string): McpTool {
  const [name = '', description = ''] = line.split(': ')
  return { name, description }
}
