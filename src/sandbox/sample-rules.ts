import type { AlertRule } from '#src/model/alert-rule.ts'
import { MAX_UINT64 } from '#src/model/uint64.ts'
import { person } from './people.ts'
import { between, pick, type Random, seededRandom } from './random.ts'

/** Which sample rule, and for which account. There is one for every index from 0. */
export type SampleRequest = {
  readonly seed: number
  readonly index: number
  readonly accountId: bigint
  readonly folders: number
  readonly hugeIds: number
}

/** The newest time in the sample data. It is fixed, so that the same seed always gives the same bytes. */
export const SAMPLE_NOW_S = 1_793_500_200

const YEAR_S = 31_536_000

/** A service and the team that owns it. The rules of a team are in one folder. */
const SERVICES = [
  ['checkout-api', 'payments'],
  ['payment-gateway', 'payments'],
  ['ledger', 'payments'],
  ['fraud-scoring', 'payments'],
  ['orders-db', 'orders'],
  ['order-events', 'orders'],
  ['fulfilment', 'orders'],
  ['invoice-mailer', 'orders'],
  ['search', 'catalogue'],
  ['catalogue-api', 'catalogue'],
  ['image-resizer', 'catalogue'],
  ['price-feed', 'catalogue'],
  ['login', 'identity'],
  ['session-store', 'identity'],
  ['oauth-proxy', 'identity'],
  ['audit-trail', 'identity'],
  ['edge-proxy', 'platform'],
  ['kafka-main', 'platform'],
  ['k8s-nodes', 'platform'],
  ['object-storage', 'platform'],
  ['clickstream', 'data'],
  ['warehouse-loader', 'data'],
  ['feature-store', 'data'],
  ['reporting-api', 'data'],
] as const

/** The check of a rule, its data source, its severity, its cron pattern. */
const CHECKS = [
  ['p99 latency above 800 ms', 'prometheus', 'critical', '* * * * *'],
  ['error rate above 2 %', 'prometheus', 'critical', '* * * * *'],
  ['request rate dropped by half', 'prometheus', 'warning', '*/2 * * * *'],
  ['CPU above 85 % for 10 min', 'prometheus', 'warning', '*/5 * * * *'],
  ['memory above 90 %', 'prometheus', 'warning', '*/5 * * * *'],
  ['pod restarts', 'prometheus', 'info', '*/5 * * * *'],
  ['disk full within 24 h', 'prometheus', 'critical', '*/15 * * * *'],
  ['certificate expires within 14 days', 'prometheus', 'warning', '0 8 * * *'],
  ['connection pool exhausted', 'prometheus', 'critical', '* * * * *'],
  ['queue depth above 10,000', 'prometheus', 'warning', '*/2 * * * *'],
  ['consumer lag above 5 min', 'prometheus', 'critical', '*/2 * * * *'],
  ['replication lag above 30 s', 'mysql', 'critical', '* * * * *'],
  ['slow queries above 50/min', 'mysql', 'warning', '*/5 * * * *'],
  ['deadlocks in the last hour', 'mysql', 'info', '0 * * * *'],
  ['panic in the logs', 'loki', 'critical', '* * * * *'],
  ['OOMKilled in the logs', 'loki', 'critical', '* * * * *'],
  ['unusual number of 401s', 'loki', 'warning', '*/5 * * * *'],
  ['no log line for 15 min', 'loki', 'warning', '*/5 * * * *'],
  ['stack traces after a release', 'elasticsearch', 'info', '*/10 8-20 * * 1-5'],
  ['index grows faster than usual', 'elasticsearch', 'info', '30 6 * * *'],
  ['revenue per hour below forecast', 'clickhouse', 'critical', '5 * * * *'],
  ['rows loaded today below 1 M', 'clickhouse', 'warning', '0 9 * * 1-5'],
  ['nightly job not finished', 'clickhouse', 'critical', '0 6 * * *'],
  ['daily cost above budget', 'clickhouse', 'info', '15 7 * * *'],
] as const

const ENVIRONMENTS = ['prod', 'staging', 'canary'] as const
const REGIONS = ['eu-central-1', 'us-east-1', 'ap-southeast-1', 'eu-west-2', 'cn-shanghai'] as const
const ZONES = ['Asia/Shanghai', 'Europe/Berlin', 'America/New_York', 'Asia/Singapore', 'UTC', null] as const

const KINDS = SERVICES.length * CHECKS.length * ENVIRONMENTS.length * REGIONS.length
/** Has no common factor with `KINDS`, so that steps of this size visit every combination once. */
const STRIDE = 7_919

/** A realistic alert rule. The same seed and index give the same rule; each index has its own name and id. */
export function sampleRule(request: SampleRequest): AlertRule<bigint> {
  const { seed, index, accountId, folders } = request
  const random = seededRandom(Math.imul(seed, 0x9e3779b1) ^ index)
  const kind = (index * STRIDE + seed) % KINDS
  const [service, team] = SERVICES[kind % SERVICES.length] as (typeof SERVICES)[number]
  const rest = Math.floor(kind / SERVICES.length)
  const [title, dsType, severity, cron] = CHECKS[rest % CHECKS.length] as (typeof CHECKS)[number]
  const place = Math.floor(rest / CHECKS.length)
  const environment = ENVIRONMENTS[place % ENVIRONMENTS.length] as string
  const region = REGIONS[Math.floor(place / ENVIRONMENTS.length)] as string
  const cell = Math.floor(index / KINDS)
  const creator = person(random)
  const updater = random() < 0.4 ? creator : person(random)
  const createdAt = SAMPLE_NOW_S - between(random, YEAR_S / 12, 2 * YEAR_S)
  return {
    id: ruleId(request, random),
    account_id: accountId,
    folder_id: folderIdOf(accountId, teamNumber(team) % folders),
    name: `${service}: ${title} (${environment}, ${region}${cell === 0 ? '' : `, cell ${cell + 1}`})`,
    labels: labels(random, { team, service, severity, env: environment, region }),
    ds_type: dsType,
    enabled: random() < 0.92,
    debug_log_enabled: random() < 0.03,
    cron_pattern: cron,
    timezone: pick(random, ZONES),
    delay_seconds: BigInt(pick(random, [0, 0, 0, 30, 60, 120])),
    creator_id: creator.id,
    creator_name: creator.name,
    updater_id: updater.id,
    updater_name: updater.name,
    created_at: BigInt(createdAt),
    updated_at: BigInt(between(random, createdAt, SAMPLE_NOW_S)),
    triggered: random() < 0.06,
  }
}

/** The ids of an account's folders, the first of them for `number` 0. */
export function folderIdOf(accountId: bigint, number: number): bigint {
  return 3_100_000_000_000n + (accountId % 100_000n) * 1_000n + BigInt(number)
}

/** 13 digits with gaps, as on the platform; the 4th, 11th, 18th … rule may be at the end of uint64. */
function ruleId({ index, hugeIds }: SampleRequest, random: Random): bigint {
  const huge = (index - 3) / 7
  if (Number.isInteger(huge) && huge >= 0 && huge < hugeIds) return MAX_UINT64 - BigInt(huge)
  return 4_203_000_000_000n + BigInt(index) * 1_000n + BigInt(between(random, 0, 999))
}

function teamNumber(team: string): number {
  return [...new Set(SERVICES.map(([, owner]) => owner as string))].indexOf(team)
}

function labels(random: Random, all: Record<string, string>): AlertRule<bigint>['labels'] {
  if (random() < 0.05) return null
  return random() < 0.85
    ? all
    : { ...all, runbook: `https://runbooks.example.com/${all.team}/${all.service}` }
}
