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
  // Its name lets a connection plan it once.
  const { rows } = await pool.query<{ wrong: string }>({
    name: 'unaccounted',
    text: `select format('import %s: %s read, %s recipients (said: %s), %s rejects, %s left out, %s strays, %s batches miscounted, counts kept %s, counted anew %s',
       i.id, i.read, s.recipients, i.recipients, s.rejects, s.left_out, s.strays, s.miscounted, k.kept, a.anew) as wrong
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
     cross join lateral (
       select array[i.batches, i.batched, i.sent, i.uncertain, i.rejected, i.rejected_by_platform, i.duplicate, i.suppressed,
         i.already_imported, i.requests] as kept) k
     cross join lateral (
       select array[count(*), coalesce(sum(b.rows), 0), coalesce(sum(b.rows) filter (where b.state = 'sent'), 0),
         coalesce(sum(b.rows) filter (where b.state = 'uncertain'
           or (b.uncertain and b.state in ('ready', 'in flight', 'suspect'))), 0),
         s.rejects, (select count(*) from ferry.import_rejects r where r.import_id = i.id and r.origin = 'platform'),
         (select count(*) from ferry.import_left_out l where l.import_id = i.id and l.kind = 'duplicate'),
         (select count(*) from ferry.import_left_out l where l.import_id = i.id and l.kind = 'suppressed'),
         (select count(*) from ferry.import_left_out l where l.import_id = i.id and l.kind = 'already imported'),
         (select count(*) from ferry.platform_calls c join ferry.import_batches m on m.id = c.batch_id
          where m.import_id = i.id)]::int[] as anew
       from ferry.import_batches b where b.import_id = i.id and b.state <> 'split') a
     where i.read <> s.recipients + s.rejects + s.left_out or i.recipients <> s.recipients
       or s.strays > 0 or s.miscounted > 0 or k.kept <> a.anew`,
  })
  return rows.map(row => row.wrong)
}
