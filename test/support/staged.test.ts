import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Pool } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { loadSummary } from '#src/imports/reporting/summary.ts'
import { stageImport } from '#src/imports/staging/stage.ts'
import { IMPORT_STATUSES } from '#src/model/import.ts'
import { NEVER, OPTIONS } from '../imports/options.ts'
import { type StagedImport, stageRows } from './staged.ts'
import { openTestStore } from './store.ts'

/** What an import and its recipients are in the tables, but for what differs from one staging to the next. */
async function storedOf(pool: Pool, id: bigint): Promise<unknown> {
  const stored = await pool.query(
    `select to_jsonb(i) - '{id,created_at,staged_at,file,options,columns}'::text[] as import, i.staged_at is not null as staged,
       (select jsonb_agg(to_jsonb(r) - '{import_id,raw}'::text[] order by r.line)
        from ferry.import_recipients r where r.import_id = i.id) as recipients
     from ferry.imports i where i.id = $1`,
    [id],
  )
  return stored.rows[0]
}

test('rows put into the tables are those that staging makes of a file', async () => {
  await using store = await openTestStore()
  const directory = await mkdtemp(join(tmpdir(), 'ferry-staged-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  const path = join(directory, 'people.csv')
  await writeFile(path, 'email,component_ids,locale\nP2@example.com,,\np3@example.com,A|B,de-DE\n')
  const how = { pageId: 9n, batchRows: 3, firstRows: 1, onUncertain: 'hold', update: true } as const
  const { import: id } = await stageImport(store, path, { ...OPTIONS, ...how }, { signal: NEVER })
  const rows: StagedImport = {
    rows: 2,
    recipient: line => (line === 2 ? 'P2@example.com' : 'p3@example.com'),
    settings: line => (line === 3 ? { componentIds: ['A', 'B'], locale: 'de-DE' } : {}),
  }
  const put = await stageRows(store.pool, { ...how, ...rows, status: 'staging' })
  const staged = await storedOf(store.pool, id!)
  expect(staged).toMatchObject({ staged: true, import: { read: 2, recipients: 2, last_line: 3 } })
  expect(staged).toEqual(await storedOf(store.pool, put))
})

test.for(IMPORT_STATUSES)('an import of every status can be had: %s', async status => {
  await using store = await openTestStore()
  const id = await stageRows(store.pool, { status })
  expect((await loadSummary(store.pool, id)).status).toBe(status)
})
