import type { PoolClient } from 'pg'
import { OpenCopy } from '#src/db/copy.ts'
import type { RunStep } from '#src/inventory/runs/ledger.ts'
import type { InventorySource } from '#src/inventory/source.ts'
import type { Appearance } from '#src/inventory/states.ts'
import type { AnyRow } from '#src/model/fields.ts'
import { appearanceOf, type ListedBefore, loadListedBefore } from './appearance.ts'
import type { Changes } from './compare.ts'
import { applyFirings } from './firings.ts'
import type { Opened } from './opened.ts'
import { closeVersions, copyTarget, type NewVersion, versionRows } from './versions.ts'

/** Firings that begin are written once there are so many, or nothing more is put. */
const MAX_BEGUN = 20_000

/**
 * Writes the changes of one run over one connection. The COPY of new versions stays open from one block to the next, and
 * firings begin many at once: else Postgres would wait twice a block until this process has time for it. So `settle` before
 * anything else is asked of the connection.
 */
export class StepWriter<Row> {
  readonly step: RunStep
  readonly #client: PoolClient
  readonly #source: InventorySource<Row>
  readonly #opened: Opened
  #listedBefore: ListedBefore | null = null
  #copy: OpenCopy | null = null
  #begun: string[] = []

  constructor(client: PoolClient, source: InventorySource<Row>, step: RunStep, opened: Opened) {
    this.#client = client
    this.#source = source
    this.step = step
    this.#opened = opened
  }

  async put({ added, changed, began, ended }: Changes<Row>): Promise<void> {
    const { table, scope } = this.#source
    const isKnownBefore = added.length === 0 || this.#listedBefore !== null
    if (changed.length > 0 || ended.length > 0 || !isKnownBefore) await this.#endCopy()
    const changedIds = changed.map(({ id }) => id)
    await closeVersions(this.#client, table, this.step, changedIds)
    await applyFirings(this.#client, this.step, [], ended)
    if (!isKnownBefore) this.#listedBefore = await loadListedBefore(this.#client, this.step, scope)
    const before = this.#listedBefore
    await this.#open(added, row => before && appearanceOf(table, row, before))
    await this.#open(changed, () => null)
    for (const id of began) this.#begun.push(id)
    if (this.#begun.length >= MAX_BEGUN) await this.settle()
  }

  /** Resolves when Postgres has all that was put. */
  async settle(): Promise<void> {
    await this.#endCopy()
    const begun = this.#begun
    this.#begun = []
    await applyFirings(this.#client, this.step, begun, [])
  }

  async #endCopy(): Promise<void> {
    const copy = this.#copy
    this.#copy = null
    await copy?.end()
  }

  /** Forgets what is not settled. The transaction can only be rolled back then. */
  async abort(): Promise<void> {
    await this.#copy?.abort()
  }

  async #open(
    versions: readonly NewVersion<Row>[],
    appeared: (row: Row) => Appearance | null,
  ): Promise<void> {
    if (versions.length === 0) return
    const { table } = this.#source
    this.#copy ??= new OpenCopy(this.#client, copyTarget(table))
    const rows = versionRows(table, this.step, versions, row => {
      const how = appeared(row)
      this.#opened.add(row as AnyRow, how)
      return how
    })
    await this.#copy.write(rows)
  }
}
