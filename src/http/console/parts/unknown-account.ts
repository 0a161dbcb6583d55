import { listImportedAccounts } from '#src/imports/reporting/known-accounts.ts'
import { isSyncedAccount } from '#src/inventory/known-accounts.ts'
import { EVERY_ACCOUNT } from '#src/schedules/definition.ts'
import { type Html, html } from '../html.ts'
import type { PageRequest } from '../page.ts'

/**
 * Says so if the address asks for an account that is neither configured here nor in what was stored: an empty list would
 * look as if it had nothing. Null otherwise.
 */
export async function unknownAccountNotice({ query, reader, target }: PageRequest): Promise<Html | null> {
  const asked = query.get('account')
  if (!asked || asked.includes('\0') || asked === EVERY_ACCOUNT || target.accounts.includes(asked))
    return null
  if (await isSyncedAccount(reader, asked)) return null
  if ((await listImportedAccounts(reader)).includes(asked)) return null
  return html`<p class="notice warn">No account has the name <bdi>${asked}</bdi>.</p>`
}
