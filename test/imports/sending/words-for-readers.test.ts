import type { Pool } from 'pg'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { resumeImport } from '#src/imports/control/decide.ts'
import { loadSummaryRow } from '#src/imports/reporting/summary.ts'
import { waitsFor } from '#src/imports/reporting/waits-for.ts'
import { decodedText } from '#src/model/addresses.ts'
import { prepareReader, READER } from '#src/reports/reader-role.ts'
import { logImportEnd } from '#src/worker/process-import.ts'
import { ADA } from '#test/support/acted-by.ts'
import { ENCODINGS } from '#test/support/encodings.ts'
import { refused, sendBatches } from '#test/support/scripted-worker.ts'
import { stageRows } from '#test/support/staged.ts'
import { openTestStore } from '#test/support/store.ts'
import { openImportHarness, recipientsOf } from '../import-harness.ts'

const encodings = Object.values(ENCODINGS)

/** An address in every spelling, and in one spelling inside another. */
function spellingsOf(recipient: string): string[] {
  return [
    recipient,
    recipient.replace('@', ' at ').replace('.', ' dot '),
    [...recipient].reverse().join(''),
    ...encodings.map(encode => encode(recipient)),
    ...encodings.map((encode, n) => encode(encodings[(n + 5) % encodings.length]!(recipient))),
  ]
}

/** Everything that the reader role may read of every table and view, as text. */
async function readableText(pool: Pool): Promise<string> {
  await prepareReader(pool)
  const { rows: columns } = await pool.query<{ relation: string; column: string }>(
    `select c.oid::regclass::text as relation, a.attname as "column" from pg_class c
     join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where c.relnamespace::regnamespace::text in ('ferry', 'ferry_internal') and c.relkind in ('r', 'v')
       and has_column_privilege($1, c.oid, a.attnum, 'select')`,
    [READER],
  )
  const texts: string[] = []
  for (const [relation, of] of Map.groupBy(columns, one => one.relation)) {
    const list = of.map(({ column }) => `"${column}"`).join(', ')
    const { rows } = await pool.query<{ text: string }>(
      `select to_jsonb(t)::text as text from (select ${list} from ${relation}) t`,
    )
    texts.push(...rows.map(({ text }) => text))
  }
  return texts.join('\n')
}

function openLog() {
  const lines: string[] = []
  return { lines, log: pino({ level: 'trace' }, { write: line => lines.push(line) }) }
}

test.for(['InvalidParameter', 'Unauthorized'])(
  'whoever may only look, and the log, get the code of an answer, in whatever spelling it names somebody: %s',
  async code => {
    await using harness = await openImportHarness()
    const { pool } = harness.ferry
    const { lines, log } = openLog()
    const hidden: string[] = []
    harness.sandbox.state.onCall(({ body }) => {
      hidden.push(...spellingsOf(recipientsOf(body)[0]!))
      return { kind: 'error', code, message: hidden.join(' | ') }
    })
    const id = await harness.stage({ rows: 12 })
    expect(await harness.work(id, { ferry: { ...harness.ferry, log } })).toBe('paused')
    await logImportEnd({ pool, log }, id)
    const row = (await loadSummaryRow(pool, id))!
    const shown = [await readableText(pool), ...lines, JSON.stringify(waitsFor(row))].join('\n')
    expect(shown).toContain(`The platform answered ${code} (HTTP `)
    for (const one of new Set(hidden)) expect(shown).not.toContain(one)
    expect(decodedText(shown)).not.toMatch(/p\d+@example/)
  },
)

test('a code or a request_id in which somebody stands is shown to nobody', async () => {
  await using harness = await openImportHarness()
  const { pool } = harness.ferry
  const { lines, log } = openLog()
  const codes = spellingsOf('p2@example.com')
  let nth = 0
  harness.sandbox.state.onCall(() => ({ kind: 'error', status: 401, code: codes[nth++ % codes.length]! }))
  const id = await harness.stage({ rows: 1 })
  for (const _ of codes) {
    expect(await harness.work(id, { ferry: { ...harness.ferry, log } })).toBe('paused')
    await resumeImport(pool, id, ADA)
  }
  const shown = [await readableText(pool), ...lines].join('\n')
  expect(shown).toContain('Unreadable')
  // What is an address only to people reads like any other code.
  for (const one of codes.filter(text => !/ at |^moc/.test(text))) expect(shown).not.toContain(one)
})

test('a code or a request_id that is itself a recipient is shown to nobody', async () => {
  await using store = await openTestStore()
  const id = await stageRows(store.pool, { rows: 1, method: 'im', recipient: () => 'alice' })
  await sendBatches(store.pool, id, [refused(401, 'alice', { requestId: 'alice' })])
  const shown = await readableText(store.pool)
  expect(shown).toContain('(HTTP 401)')
  expect(shown).not.toContain('alice')
})
