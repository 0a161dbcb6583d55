import { z } from 'zod'
import type { Result } from './answer.ts'
import { readBody, Uint64 } from './body.ts'
import { refuse } from './errors.ts'
import type { AppKey } from './keys.ts'
import { Payload } from './payload.ts'
import type { SandboxState } from './state.ts'

const RuleListBody = z.object({ folder_id: Uint64.default(0n) })

/** Section 4.1: the account's rules of one folder, or of all for folder 0, in one array. */
export function listRules(state: SandboxState, key: AppKey, body: unknown): Result {
  const read = readBody(RuleListBody, body)
  if (!read.ok) return read
  if (state.rulesBody !== null) return { ok: true, data: [new Payload(state.rulesBody)] }
  const folderId = read.fields.folder_id
  if (folderId !== 0n && !state.folders.has(folderId)) {
    return refuse('ResourceNotFound', `Folder ${folderId} does not exist.`)
  }
  const data = state.rules.listing(
    `${key.accountId} ${folderId}`,
    rule => rule.account_id === key.accountId && (folderId === 0n || rule.folder_id === folderId),
  )
  return { ok: true, data: data.length > 0 ? data : [new Payload(state.emptyAsNull ? 'null' : '[]')] }
}
