import type { Pool } from 'pg'
import { expect, test } from 'vitest'
import { cancelImport } from '#src/imports/control/decide.ts'
import { IMPORT_STATUSES } from '#src/model/import.ts'
import { ADA } from '#test/support/acted-by.ts'
import { sendBatches, UNAUTHORIZED } from '#test/support/scripted-worker.ts'
import { stageRows } from '#test/support/staged.ts'
import { cellsOf, textOf } from './cells.ts'
import { BOTH_TOKENS, openConsoleHarness, READ_TOKEN } from './console-harness.ts'

const ALL = 'All imports, the newest first'
const WAITING = 'Waiting for a decision'

async function put(pool: Pool, imports: number): Promise<void> {
  await pool.query(
    `insert into ferry.imports (account, page_id, method, status, file, options, on_uncertain, update_existing, batch_rows, read,
       recipients, finished_at)
     select 'default', n, 'email', 'cancelled', 'file ' || n, '{}', 'resend', false, 500, 10, 10, now()
     from generate_series(1, $1::int) n`,
    [imports],
  )
}

test('without imports, the list says how to begin', async () => {
  await using harness = await openConsoleHarness()
  const { status, text } = await harness.page('/imports')
  expect(status).toBe(200)
  expect(text).toContain('<code>ferry import FILE --page ID --dry-run</code>')
  expect(text).not.toContain('data-refresh')
})

test('the list shows what became of the rows of each import, and first those that wait for a person', async () => {
  await using harness = await openConsoleHarness({ tokens: BOTH_TOKENS })
  const { pool } = harness.ferry
  const ids: bigint[] = []
  for (const [index, status] of IMPORT_STATUSES.entries()) {
    ids.push(await stageRows(pool, { status, pageId: BigInt(index + 1), rows: 1_200 }))
  }
  const { text } = await harness.page('/imports', READ_TOKEN)
  const all = cellsOf(text, ALL)
  expect(all.map(([id, , page, , status, sent]) => [id, page, status, sent])).toEqual(
    IMPORT_STATUSES.map((status, index) => [
      `${ids[index]}`,
      `${index + 1}`,
      status === 'staging' ? 'to confirm' : status,
      status === 'completed' ? '1,200 of 1,200' : '0 of 1,200',
    ]).reverse(),
  )
  expect(all.find(([, , , , status]) => status === 'undecided')?.[6]).toBe('1,200 uncertain')
  const waiting = cellsOf(text, WAITING)
  expect(waiting.map(([id, , status, , decide]) => [id, status, decide])).toEqual([
    [`${ids[0]}`, 'to confirm', 'Confirm'],
    [`${ids[3]}`, 'paused', 'Resume'],
    [`${ids[4]}`, 'undecided', 'Decide'],
  ])
  expect(waiting[0]?.[3]).toMatch(
    /^Its file has been checked. Nothing is sent until you confirm it. The import is deleted at 20[^ ]+ [^ ]+ unless it is confirmed[.]/,
  )
  expect(waiting[1]?.[3]).toBe('A person paused it.')
  expect(waiting[2]?.[3]).toContain('1,200 rows')
  await pool.query('update ferry.imports set staged_at = null where id = $1', [ids[0]])
  expect(cellsOf((await harness.page('/imports', READ_TOKEN)).text, ALL).at(-1)?.[4]).toBe('staging')
  await pool.query('update ferry.imports set staged_at = now() where id = $1', [ids[0]])
  // The filter sent with nothing chosen asks for the same.
  expect(cellsOf((await harness.page('/imports?status=&account=', READ_TOKEN)).text, WAITING)).toEqual(
    waiting,
  )
  // A queued one may be sent at any moment.
  expect(text).toContain('data-refresh="15000"')
})

test('what is left out is not among the rows to send, as on the page of the import', async () => {
  await using harness = await openConsoleHarness()
  const { pool } = harness.ferry
  const id = await stageRows(pool, { status: 'completed', rows: 10 })
  await pool.query(
    'update ferry.imports set read = read + 6, duplicate = 1, suppressed = 2, already_imported = 3 where id = $1',
    [id],
  )
  const [row] = cellsOf((await harness.page('/imports')).text, ALL)
  expect(row?.slice(5, 7)).toEqual(['10 of 10', '6 left out'])
  expect((await harness.page(`/imports/${id}`)).text).toContain('10 of 10 rows (100 %)')
})

test('of an account that this worker does not have, the limit and the time are not known', async () => {
  await using harness = await openConsoleHarness()
  const id = await stageRows(harness.ferry.pool, { account: 'older', status: 'staging' })
  const page = textOf((await harness.page(`/imports/${id}`)).text)
  expect(page).toContain('unknown: this worker does not have the account')
  const asked = textOf((await harness.page(`/imports/${id}/confirm`)).text)
  expect(asked).toContain('10 rows will be sent in 1 call: this worker does not have the account')
})

test('the list says why the platform stopped an import', async () => {
  await using harness = await openConsoleHarness()
  const id = await stageRows(harness.ferry.pool)
  await sendBatches(harness.ferry.pool, id, [UNAUTHORIZED])
  const [[, , , why] = []] = cellsOf((await harness.page('/imports')).text, WAITING)
  expect(why).toBe('The platform answered Unauthorized (HTTP 401).')
})

test('the list goes on where its page ends, and shows each import once', async () => {
  await using harness = await openConsoleHarness()
  await put(harness.ferry.pool, 120)
  const seen: string[] = []
  let path = '/imports?status=cancelled'
  for (let pages = 1; ; pages++) {
    const { text } = await harness.page(path)
    seen.push(...cellsOf(text, ALL).map(([id = '']) => id))
    const next = /rel="next" href="([^"]+)"/.exec(text)?.[1]
    if (!next) {
      expect(pages).toBe(3)
      break
    }
    path = next.replaceAll('&amp;', '&')
    expect(path).toContain('status=cancelled')
    if (pages > 1) expect(text).toContain('<a href="/imports?status=cancelled">First page</a>')
  }
  expect(seen).toEqual(Array.from({ length: 120 }, (_, index) => `${120 - index}`))
  expect((await harness.page('/imports?status=running')).text).toContain('No import matches.')
})

test('a wrong filter is named', async () => {
  await using harness = await openConsoleHarness()
  for (const [query, named] of [
    ['status=sleeping', 'status'],
    [`account=${'x'.repeat(201)}`, 'account'],
    ['after=x', 'after'],
    [`after=${Buffer.from('["1; drop"]').toString('base64url')}`, 'after'],
  ]) {
    const { status, text } = await harness.page(`/imports?${query}`)
    expect(status, query).toBe(400)
    expect(text).toContain(`The address is wrong: ${named}:`)
  }
})

test('names of others cannot change the list', async () => {
  await using harness = await openConsoleHarness()
  const hostile = [
    '<script>alert(1)</script>',
    '"><img src=x onerror=alert(1)>',
    '\u202egpj.exe',
    'x'.repeat(3_000),
    '🦊',
    ' ',
  ]
  for (const [index, name] of hostile.entries()) {
    const id = await stageRows(harness.ferry.pool, { account: name, pageId: BigInt(index + 1), rows: 1 })
    await harness.ferry.pool.query('update ferry.imports set file = $2 where id = $1', [id, name])
    await cancelImport(harness.ferry.pool, id, ADA)
  }
  const { status, text } = await harness.page('/imports')
  expect(status).toBe(200)
  expect(text).not.toMatch(/<script>|<img src=x/)
  expect(text).toContain('<bdi>\u202egpj.exe</bdi>')
  expect(text).toContain('🦊')
})
