import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from 'pg'

/** Looks again and again whether every row of every import is accounted for; `stop` returns what was wrong. */
export function watchSums(pool: Pool) {
  const wrong: string[] = []
  let stopped = false
  const watching = watch()
  async function watch(): Promise<void> {
    while (!stopped) {
      // A test may have cut the connections: that is nobody's mistake here.
      wrong.push(...(await unaccounted(pool).catch(() => [])))
      await delay(50)
    }
  }
  return {
    async stop(): Promise<readonly string[]> {
      stopped = true
      await watching
      return [...wrong, ...(await unaccounted(pool))]
    },
  }
}

async function unaccounted(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ wrong: string }>(
    `select format('import %s: %s read, %s recipients (said: %s), %s rejects, %s left out, %s strays, %s batches miscounted',
       i.id, i.read, s.recipients, i.recipients, s.rejects, s.left_out, s.strays, s.miscounted) as wrong
     from ferry.imports i
     cross join lateral (
       select
         (select count(*) from ferry.import_recipients r where r.import_id = i.id) as recipients,
         (select count(*) from ferry.import_rejects r where r.import_id = i.id) as rejects,
         (select count(*) from ferry.import_left_out r where r.import_id = i.id) as left_out,
         (select count(*) from ferry.import_recipients r where r.import_id = i.id
            and (r.line > i.batched_to)::int + (select count(*) from ferry.import_batches b where b.import_id = i.id
              and b.state <> 'split' and r.line between b.from_line and b.to_line) <> 1) as strays,
         (select count(*) from ferry.import_batches b where b.import_id = i.id
            and b.rows <> (select count(*) from ferry.import_recipients r
              where r.import_id = i.id and r.line between b.from_line and b.to_line)) as miscounted) s
     where i.read <> s.recipients + s.rejects + s.left_out or i.recipients <> s.recipients
       or s.strays > 0 or s.miscounted > 0`,
  )
  return rows.map(row => row.wrong)
}
