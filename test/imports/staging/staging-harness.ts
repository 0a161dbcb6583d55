import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { discardStaging } from '#src/imports/staging/expire.ts'
import type { FileRefused } from '#src/imports/staging/file-refused.ts'
import type { ImportOptions } from '#src/imports/staging/options.ts'
import { dryRun, stageImport } from '#src/imports/staging/stage.ts'
import type { StagingReport } from '#src/imports/staging/staging-report.ts'
import { missingOf } from '#src/model/import.ts'
import { openTestStore, type TestStore } from '#test/support/store.ts'
import { NEVER, OPTIONS } from '../options.ts'

export type StagingHarness = AsyncDisposable & {
  readonly store: TestStore
  /** Writes a file and answers its path. */
  file(content: string | Buffer, name?: string): Promise<string>
  /** Stages a file of this content, and expects that its counts add up. */
  stage(content: string | Buffer, options?: Partial<ImportOptions>): Promise<StagingReport>
  dryRun(content: string | Buffer, options?: Partial<ImportOptions>): Promise<StagingReport>
  /** Discards what was staged so far, unless it has been confirmed. */
  discardAll(): Promise<void>
  /** Why a file of this content is refused. Expects that nothing was stored. */
  refusal(content: string | Buffer, options?: Partial<ImportOptions>): Promise<FileRefused>
  query<Row>(sql: string, params?: unknown[]): Promise<Row[]>
  /** What is to be sent, in the order of the file. */
  recipients(): Promise<
    { line: number; recipient: string; all: boolean; ids: string[] | null; locale: string }[]
  >
  rejects(): Promise<{ line: number; reason: string; column: string | null; raw: string }[]>
  leftOut(): Promise<{ line: number; kind: string; reason: string; recipient: string | null }[]>
}

/** A database and a place for files. */
export async function openStagingHarness(): Promise<StagingHarness> {
  await using opened = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'ferry-staging-'))
  opened.defer(() => rm(directory, { recursive: true }))
  const store = opened.use(await openTestStore())
  const kept = opened.move()
  let files = 0
  const staged: bigint[] = []

  async function file(content: string | Buffer, name = `file-${++files}.csv`): Promise<string> {
    const path = join(directory, name)
    await writeFile(path, content)
    return path
  }
  async function query<Row>(sql: string, params?: unknown[]): Promise<Row[]> {
    return (await store.pool.query(sql, params)).rows
  }
  async function run(how: typeof stageImport, content: string | Buffer, options?: Partial<ImportOptions>) {
    const report = await how(store, await file(content), { ...OPTIONS, ...options }, { signal: NEVER })
    if (missingOf(report.summary) !== 0) throw new Error('the counts do not add up')
    if (report.import !== null) staged.push(report.import)
    return report
  }

  return {
    store,
    file,
    query,
    stage: (content, options) => run(stageImport, content, options),
    dryRun: (content, options) => run(dryRun, content, options),
    async discardAll() {
      for (const id of staged.splice(0)) await discardStaging(store.pool, id)
    },
    async refusal(content, options) {
      const rows = () =>
        query<{ rows: number }>(
          `select (select count(*) from ferry.imports) + (select count(*) from ferry.import_recipients)
             + (select count(*) from ferry.import_rejects) as rows`,
        )
      const before = await rows()
      const error = await run(stageImport, content, options).then(
        () => new Error('it was not refused'),
        error => error,
      )
      if (error.name !== 'FileRefused') throw error
      const after = await rows()
      if (after[0]?.rows !== before[0]?.rows) throw new Error('a refused file left rows')
      return error
    },
    recipients: () =>
      query(
        `select line::int, recipient, "all", component_ids as ids, locale from ferry.import_recipients
         order by import_id, line`,
      ),
    rejects: () =>
      query('select line::int, reason, "column", raw from ferry.import_rejects order by import_id, line'),
    leftOut: () =>
      query('select line::int, kind, reason, recipient from ferry.import_left_out order by import_id, line'),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}
