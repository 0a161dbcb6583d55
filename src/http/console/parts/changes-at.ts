import { href } from '../page.ts'

/** The address of what was changed in the minute before and after an instant. */
export function changesAt(account: string, at: Date): string {
  const [since, until] = [-60_000, 60_000].map(ms => new Date(at.getTime() + ms).toISOString())
  return href('/changes', { account, since, until })
}
