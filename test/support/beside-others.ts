import { pipeline } from 'node:stream/promises'
import type { Pool, PoolClient } from 'pg'
import { from as copyFrom, to as copyTo } from 'pg-copy-streams'
import { type Copy, copyToAccounts, leaveRoom } from './copied-account.ts'
import { stageRows } from './staged.ts'

/*
 * Another account changes nothing of what is said about one: each output is taken twice at the same time, over the account alone, and over
 * the same rows with those of others beside them.
 */

const SAME = ['page_id', 'folder_id', 'recipient', 'locale']

/** The rule that comes next in the order of ids, after the last one the first. */
const NEXT_RULE = `(select coalesce(min(n.id) filter (where n.id > t.id), min(n.id)) from ferry.alert_rule_versions n where n.account = 'default')`

/**
 * Others with the same rules, servers, folders, pages and recipients. In the order of names and of Ferry's ids, one is before and one after
 * `default`. To one the same happened at the same time, only in other words; to the other it happened a little later, to other rules, and
 * its runs ended better.
 */
export const OTHERS: readonly Copy[] = [
  {
    account: 'abacus',
    word: 'kakapo',
    number: '666000666',
    idsLater: -3,
    later: '0',
    kept: [...SAME, 'updater_id', 'team_id', 'labels', 'cron_pattern', 'server_name', 'tools'],
  },
  {
    account: 'umbrella',
    word: 'kea',
    number: '777000777',
    idsLater: 3,
    later: '1 millisecond',
    kept: SAME,
    instead: {
      'alert_rule_versions.id': NEXT_RULE,
      'alert_rule_firings.id': NEXT_RULE,
      'sync_runs.status': `case when status = 'failed' then 'succeeded' else status end`,
      'sync_runs.scope': `case when scope ? 'folders' then jsonb_set(scope, '{folders}', '["0"]') else scope end`,
      'freshness_targets.target': 'target * 100',
      'freshness_targets.timezone': `'Asia/Tokyo'`,
      'schedule_pauses.schedule': `'poll-alert-rules'`,
    },
  },
]

export type SideBySide<Harness> = AsyncDisposable & { readonly alone: Harness; readonly beside: Harness }

type Filled = AsyncDisposable & { readonly ferry: { readonly pool: Pool } }

/** Two of the same kind, of which the one has what `fill` made, and the other has it beside other accounts. */
export async function openSideBySide<Harness extends Filled>(
  open: () => Promise<Harness>,
  fill: (harness: Harness) => Promise<void>,
): Promise<SideBySide<Harness>> {
  await using opened = new AsyncDisposableStack()
  const alone = opened.use(await open())
  await leaveRoom(alone.ferry.pool)
  await makeKnown(alone.ferry.pool)
  await fill(alone)
  const beside = opened.use(await open())
  await copyRows(alone.ferry.pool, beside.ferry.pool)
  await copyToAccounts(beside.ferry.pool, OTHERS)
  const kept = opened.move()
  return { alone, beside, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

/** That there are other accounts, people are told: they choose from them. So the others have one old run and one import in either. */
async function makeKnown(pool: Pool): Promise<void> {
  for (const { account } of OTHERS) {
    await pool.query(
      `insert into ferry.sync_runs (account, resource, trigger, scope, guard, fingerprint_version, status, started_at, finished_at)
       values ($1, 'alert-rules', 'manual', '{}', '', 1, 'failed', now() - interval '9 days', now() - interval '9 days')`,
      [account],
    )
    await stageRows(pool, { account, rows: 1, status: 'cancelled' })
  }
}

/** Copies all rows but those that say which database it is. */
async function copyRows(from: Pool, to: Pool): Promise<void> {
  await using opened = new AsyncDisposableStack()
  const connect = async (pool: Pool) => {
    const client: PoolClient = await pool.connect()
    opened.defer(() => client.release())
    return client
  }
  const [reader, writer] = [await connect(from), await connect(to)]
  const { rows } = await reader.query<{ table: string }>(
    `select format('ferry.%I (%s)', c.relname, string_agg(format('%I', a.attname), ', ' order by a.attnum)) as "table"
     from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
     where c.relnamespace = 'ferry'::regnamespace and c.relkind = 'r'
       and c.relname not in ('migrations', 'backfills', 'installation', 'known_database')
     group by c.relname order by c.relname = 'deliveries', c.relname`,
  )
  for (const { table } of rows) {
    await pipeline(
      reader.query(copyTo(`copy ${table} to stdout`)),
      writer.query(copyFrom(`copy ${table} from stdin`)),
    )
  }
}
