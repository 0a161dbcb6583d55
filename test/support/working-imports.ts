import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Pool } from 'pg'
import { writeSamplePeople } from '#src/cli/demo/sample-people.ts'
import { confirmImport, pauseImport } from '#src/imports/control/decide.ts'
import { stageImport } from '#src/imports/staging/stage.ts'
import type { ActedBy } from '#src/model/act.ts'
import { SANDBOX_PAGE_ID } from '#src/sandbox/state.ts'
import { NEVER, OPTIONS } from '#test/imports/options.ts'
import { letTimePass } from './let-time-pass.ts'
import { ACCEPTED, LOST, naming, openScriptedWorker, sendBatches, UNAUTHORIZED } from './scripted-worker.ts'
import { stageRows } from './staged.ts'

const PRIYA: ActedBy = { actor: 'priya@ops-laptop', because: 'Support wants to look at the first answers' }

/** Imports of two days ago: one that is complete, with rejects; one that the platform refuses; one with an unknown outcome. */
export async function fillEarlierImports(pool: Pool, account: string): Promise<void> {
  const people = await stagePeople(pool, account)
  await confirmImport(pool, people, PRIYA)
  await sendWithRejects(pool, people)
  const refused = await stageRows(pool, {
    account,
    rows: 4_200,
    pageId: page(1),
    file: 'statuspage-export.csv',
  })
  await sendBatches(pool, refused, [ACCEPTED, ACCEPTED, UNAUTHORIZED])
  await stageRows(pool, { account, rows: 900, pageId: page(2), file: 'partners.csv', status: 'undecided' })
  await stageRows(pool, { account, rows: 1_500, pageId: page(3), file: 'old-list.csv', status: 'cancelled' })
}

/** Imports of this moment: one that is being sent, one that a person paused, one that waits to be confirmed. */
export async function fillCurrentImports(pool: Pool, account: string): Promise<void> {
  const paused = await stageRows(pool, { account, rows: 8_000, pageId: page(4), file: 'beta-testers.csv' })
  await sendBatches(pool, paused, [ACCEPTED])
  await pauseImport(pool, paused, PRIYA)
  await stagePeople(pool, account)
  const running = await stageRows(pool, {
    account,
    rows: 30_000,
    pageId: page(5),
    file: 'customers-2026.csv',
  })
  await using worker = await openScriptedWorker(pool, running)
  for (let batch = 0; batch < 24; batch++) {
    await worker.send(await worker.claim(), ACCEPTED)
    await letTimePass(pool, '3.1 s')
  }
  await worker.claim()
}

function page(number: number): bigint {
  return SANDBOX_PAGE_ID + BigInt(number)
}

/** Stages the file of the demo, with all that can be wrong in one. */
async function stagePeople(pool: Pool, account: string): Promise<bigint> {
  const directory = await mkdtemp(join(tmpdir(), 'ferry-people-'))
  try {
    const people = await writeSamplePeople(directory)
    const options = {
      ...OPTIONS,
      account,
      pageId: SANDBOX_PAGE_ID,
      map: { recipient: 'Email', locale: 'Language' },
      suppress: people.suppressed,
    }
    const { import: id } = await stageImport({ pool }, people.file, options, { signal: NEVER })
    if (id === null) throw new Error('nothing was staged')
    return id
  } finally {
    await rm(directory, { recursive: true })
  }
}

/** The platform names some recipients of the first batch, and one call gets no answer. */
async function sendWithRejects(pool: Pool, id: bigint): Promise<void> {
  const { rows } = await pool.query<{ recipient: string }>(
    'select recipient from ferry.import_recipients where import_id = $1 order by line limit 3',
    [id],
  )
  await using worker = await openScriptedWorker(pool, id)
  const answers = [naming(...rows.map(row => row.recipient)), ACCEPTED, LOST]
  for (let claim = await worker.tryClaim(); claim; claim = await worker.tryClaim()) {
    await worker.send(claim, answers.shift() ?? ACCEPTED)
  }
  await worker.end()
}
