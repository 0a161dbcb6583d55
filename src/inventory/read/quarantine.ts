import type { Pool, PoolClient } from 'pg'
import { z } from 'zod'
import { and, drizzleOf, eq, isNull } from '#src/db/drizzle.ts'
import { findAll, type Queryable } from '#src/db/rows.ts'
import { wordsInSql } from '#src/db/words-in-sql.ts'
import { quarantinedRows, syncRuns } from '#src/inventory/schema.ts'
import { hadScope, ofInventory, type Scope } from '#src/inventory/scope.ts'
import { fingerprint, uuidOf } from '#src/model/fingerprint.ts'
import type { Quarantined } from '#src/model/listing.ts'
import { type Inventory, RESOURCES } from '#src/model/resource.ts'
import { APPLIED_STATUSES } from '#src/model/run.ts'
import { areSame, bytesOf, readBytes, WORDS } from './byte-words.ts'
import { SlotIndex } from './slot-index.ts'

/** How many quarantined rows of one scope are stored at a time: enough to see which they are, and why. */
export const MAX_STORED_ROWS = 500

/** Of these rows as many as may be stored are new, even if as many are stored already. */
const MAX_KEPT_ROWS = 2 * MAX_STORED_ROWS
/** A row may have a megabyte. */
const MAX_KEPT_BYTES = 16 * 1024 * 1024

const FIRST_CAPACITY = 64

/**
 * The quarantined rows of a listing: the first ones, and of the others just enough to recognise one that is stored. That is
 * 16 bytes a row, outside of the heap: all rows of a large account may be quarantined at once.
 */
export class Quarantine {
  /** By the number of the row. */
  readonly #kept = new Map<number, Quarantined>()
  #hashes = new Uint32Array(FIRST_CAPACITY * WORDS)
  #size = 0
  #hasUnreadableId = false
  #keptBytes = 0

  get size(): number {
    return this.#size
  }

  /** Whether the id of a row could not be read: then no id counts as absent. */
  get hasUnreadableId(): boolean {
    return this.#hasUnreadableId
  }

  add(row: Quarantined): void {
    this.#hasUnreadableId ||= row.id === null
    this.#keep(this.#size, row)
    this.#reserve(this.#size + 1)
    readBytes(fingerprint(JSON.stringify([row.id, row.reason, row.raw])), this.#hashes, this.#size)
    this.#size += 1
  }

  /** Adds what a later listing quarantined; `rowsBefore` are the rows of all listings before it. */
  append(later: Quarantine, rowsBefore: number): void {
    this.#hasUnreadableId ||= later.#hasUnreadableId
    for (const [n, row] of later.#kept) {
      this.#keep(this.#size + n, { ...row, position: row.position + rowsBefore })
    }
    this.#reserve(this.#size + later.#size)
    this.#hashes.set(later.#hashes.subarray(0, later.#size * WORDS), this.#size * WORDS)
    this.#size += later.#size
  }

  #keep(n: number, row: Quarantined): void {
    this.#keptBytes += row.raw?.length ?? 0
    if (this.#kept.size < MAX_KEPT_ROWS && this.#keptBytes <= MAX_KEPT_BYTES) this.#kept.set(n, row)
  }

  /**
   * Yields a hash of each row's content, whatever its position, and the row if it was kept. Of two equal rows, the second has
   * another hash.
   */
  *byFingerprint(): Generator<readonly [fingerprint: string, row: Quarantined | null]> {
    const repeats = new Uint8Array(this.#size)
    const times = new Map<number, number>()
    const index = new SlotIndex(n => (repeats[n] === 1 ? null : (this.#hashes[n * WORDS] ?? 0)))
    for (let n = 0; n < this.#size; n++) {
      const first = index.find(this.#hashes[n * WORDS] ?? 0, other =>
        areSame(this.#hashes, other, this.#hashes, n),
      )
      const row = this.#kept.get(n) ?? null
      if (first === -1) {
        index.add(n, n + 1)
        yield [this.#uuidOf(n), row]
        continue
      }
      repeats[n] = 1
      const time = (times.get(first) ?? 0) + 1
      times.set(first, time)
      yield [uuidOf(fingerprint(`${this.#uuidOf(n)} ${time}`)), row]
    }
  }

  #uuidOf(row: number): string {
    return uuidOf(bytesOf(this.#hashes, row))
  }

  #reserve(rows: number): void {
    let capacity = this.#hashes.length / WORDS
    if (rows <= capacity) return
    while (capacity < rows) capacity *= 2
    const larger = new Uint32Array(capacity * WORDS)
    larger.set(this.#hashes)
    this.#hashes = larger
  }
}

/**
 * Stores the quarantined rows of a run that are new or changed, and ends the stored ones that the listing lacks.
 * A row that is stored already stays as it is. Returns how many of `quarantined` are stored, by this run or an earlier one.
 *
 * At most `MAX_STORED_ROWS` of one scope are stored at a time: if the platform changes the type of a field, every row is
 * quarantined at once. The first rows show what is wrong; the others are only counted.
 */
export async function saveQuarantined(
  client: PoolClient,
  run: Inventory & { readonly scope: Scope; readonly runId: bigint },
  quarantined: Quarantine,
): Promise<number> {
  const stored = await loadStored(client, run)
  const known = new Set(stored.map(row => row.fingerprint))
  const found = new Set<string>()
  const added: (readonly [string, Quarantined])[] = []
  for (const [fingerprint, row] of quarantined.byFingerprint()) {
    if (known.has(fingerprint)) found.add(fingerprint)
    else if (row !== null) added.push([fingerprint, row])
  }
  const ended = stored.filter(row => !found.has(row.fingerprint))
  const kept = stored.length - ended.length
  added.length = Math.min(added.length, Math.max(0, MAX_STORED_ROWS - kept))
  if (ended.length > 0) {
    await client.query(
      `update ferry.quarantined_rows q set until_run = $1
       from unnest($2::bigint[], $3::int[]) as e (run_id, position)
       where q.run_id = e.run_id and q.position = e.position`,
      [run.runId, ended.map(row => row.run_id), ended.map(row => row.position)],
    )
  }
  if (added.length > 0) {
    await client.query(
      `insert into ferry.quarantined_rows (run_id, position, id, reason, raw, fingerprint)
       select $1, position, id, reason, raw::jsonb, fingerprint
       from unnest($2::int[], $3::text[], $4::text[], $5::text[], $6::uuid[]) as q (position, id, reason, raw, fingerprint)`,
      [
        run.runId,
        added.map(([, row]) => row.position),
        added.map(([, row]) => row.id),
        added.map(([, row]) => row.reason),
        added.map(([, row]) => row.raw),
        added.map(([fingerprint]) => fingerprint),
      ],
    )
  }
  return kept + added.length
}

/** The stored rows of a scope that came in the last listing too. */
function loadStored(client: PoolClient, run: Inventory & { readonly scope: Scope }) {
  const { run_id, position, fingerprint } = quarantinedRows
  return drizzleOf(client)
    .select({ run_id, position, fingerprint })
    .from(quarantinedRows)
    .innerJoin(syncRuns, eq(syncRuns.id, run_id))
    .where(and(isNull(quarantinedRows.until_run), ofInventory(syncRuns, run), hadScope(run.scope)))
}

const QuarantineReason = z.object({ position: z.number(), id: z.string().nullable(), reason: z.string() })
export type QuarantineReason = Readonly<z.infer<typeof QuarantineReason>>

const QuarantinedRow = QuarantineReason.extend({ raw: z.unknown() })
export type QuarantinedRow = Readonly<z.infer<typeof QuarantinedRow>>

/**
 * The stored rows that a run quarantined: those it stored, and those that an earlier run of the same scope stored and that
 * had not ended.
 */
export function loadQuarantined(pool: Pool, runId: bigint): Promise<QuarantinedRow[]> {
  return findAll(
    pool,
    QuarantinedRow,
    `select v.position, v.id, v.reason, q.raw
     from ferry_internal.run_quarantine v
     join ferry.quarantined_rows q on q.run_id = v.first_run and q.position = v.position
     where v.run_id = $1 order by v.position`,
    [runId],
  )
}

/** The same without the rows as the platform sent them, for the role that only reads. */
export function loadQuarantineReasons(pool: Pool, runId: bigint): Promise<QuarantineReason[]> {
  return findAll(
    pool,
    QuarantineReason,
    'select position, id, reason from ferry_internal.run_quarantine where run_id = $1 order by position',
    [runId],
  )
}

const Count = z.object({ account: z.string(), resource: z.enum(RESOURCES), rows: z.number() })

/** Returns how many rows the last run that read each of these inventories could not read; none for one that was never read. */
export function countQuarantined(
  client: Queryable,
  inventories: readonly Inventory[],
): Promise<z.infer<typeof Count>[]> {
  return findAll(
    client,
    Count,
    `select a.account, a.resource, r.quarantined as rows
     from unnest($1::text[], $2::text[]) as a (account, resource)
     cross join lateral (
       select s.quarantined from ferry.sync_runs s
       where s.account = a.account and s.resource = a.resource and s.status in (${wordsInSql(APPLIED_STATUSES)})
       order by s.id desc limit 1) r`,
    [inventories.map(({ account }) => account), inventories.map(({ resource }) => resource)],
  )
}
