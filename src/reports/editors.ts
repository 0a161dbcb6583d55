import type { Pool } from 'pg'
import { z } from 'zod'
import { findAll } from '#src/db/rows.ts'

/** A row of the report `edits_by_person`. */
const Editor = z.object({
  account: z.string(),
  id: z.string(),
  name: z.string(),
  edits: z.number(),
  folders: z.number(),
  lastEdit: z.date(),
})
export type Editor = Readonly<z.infer<typeof Editor>>

/** Which edits are counted; what is left out does not narrow them. */
export type EditsFilter = {
  readonly account?: string | undefined
  readonly folder?: bigint | undefined
  readonly since: Date
}

/** The person after whom a list goes on. */
type AfterEditor = readonly [edits: number, account: string, id: string]

/** Returns who edited alert rules, those with the most edits first. */
export function loadEditors(
  reader: Pool,
  { account, folder, since }: EditsFilter,
  after: AfterEditor | null,
  maxRows: number,
): Promise<Editor[]> {
  return findAll(reader, Editor, EDITORS, [
    since,
    account ?? null,
    folder ?? null,
    ...(after ?? [null, null, null]),
    maxRows,
  ])
}

const EDITORS = `
  select account, updater_id::text as id, updater_name as name, edits, folders, last_edit
  from ferry.edits_by_person($1, $2, $3)
  where $4::int is null or edits < $4 or (edits = $4 and (account, updater_id) > ($5::text, $6::numeric))
  order by edits desc, account, updater_id limit $7`
