import { expect, test } from 'vitest'
import { MAX_STORED_ROWS } from '#src/inventory/read/quarantine.ts'
import { ADA } from '#test/support/acted-by.ts'
import { openFerryHarness } from '#test/support/ferry-harness.ts'
import { rules, syncListed, upTo } from './scripted-account.ts'

test('a run says in one text all that is left to know, in this order, and the ledger has what it returns', async () => {
  await using harness = await openFerryHarness({ rules: 0, servers: 0 })
  await syncListed(harness, [rules(upTo(40), { firing: true })])
  await harness.query(
    `insert into ferry.database_changes (cause, missing_since, known, found) values ('copy', '2026-11-01Z', '{}', '{}')`,
  )
  const broken = rules(upTo(MAX_STORED_ROWS + 1), { broken: 'with its id' }).map(rule => ({
    ...rule,
    id: rule.id + 1_000n,
  }))
  const listed = [
    ...rules(upTo(10), { firing: true }),
    ...rules([11], { name: 'other' }),
    ...rules([41]),
    ...broken,
  ]
  const slot = new Date('2026-11-05T03:30:00Z')
  const result = await syncListed(harness, [listed], { by: ADA, slot, trigger: 'schedule' })
  const counts = { seen: 513, added: 1, changed: 1, removed: 0, unchanged: 10, quarantined: 501 }
  const end = {
    ...counts,
    status: 'held',
    requests: 2,
    message:
      '29 of 40 rows are gone from the listing; nothing was removed. See `ferry runs show 2`, then `ferry runs approve 2` or ' +
      '`ferry runs reject 2`. Of 501 rows that could not be read, 500 are stored. This is not the database that Ferry knew: it ' +
      'is a copy of the database, as from a dump. Rows that were written since 2026-11-01T00:00:00.000Z may be missing. What ' +
      'this run records may have been observed before.',
  }
  const about = { account: 'default', resource: 'alert-rules' }
  expect(result).toEqual({
    ...end,
    ...about,
    run: 2n,
    errorCode: null,
    requestId: null,
    durationMs: expect.any(Number),
  })
  const [row] = await harness.query(
    `select id, started_at < applied_at and applied_at <= finished_at as is_in_order, to_jsonb(r)
       - '{id,started_at,applied_at,finished_at,lease_token}'::text[] as row
     from ferry.sync_runs r where id = 2`,
  )
  expect(row).toEqual({
    id: '2',
    is_in_order: true,
    row: {
      ...end,
      ...about,
      trigger: 'schedule',
      slot: '2026-11-05T03:30:00+00:00',
      scope: { folders: ['0'], includeAccount: null, keyHash: 'key' },
      guard: '10,20%',
      fingerprint_version: 1,
      pages: 2,
      fired: 0,
      recovered: 1,
      first_read: 0,
      data_hashes: null,
      error_code: null,
      request_id: null,
    },
  })
})
