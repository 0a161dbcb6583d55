import { isLoopback } from './loopback.ts'

/** The parts of the pattern of a rule's page in the platform. */
const PARTS = ['id', 'account_id', 'folder_id'] as const

/** What the parts stand for: ids as text. */
export type PlatformRule = Readonly<Record<(typeof PARTS)[number], string>>

/** Writes the address of a rule's page in the platform, from a pattern such as `https://app.example.com/monit/rule/{id}`. */
export function platformUrlOf(pattern: string, rule: PlatformRule): string {
  return PARTS.reduce((url, part) => url.replaceAll(`{${part}}`, encodeURIComponent(rule[part])), pattern)
}

/** Whether every address that this pattern gives is one that a browser may be sent to: https, or http on this machine. */
export function isPlatformPattern(pattern: string): boolean {
  const url = platformUrlOf(pattern, { id: '1', account_id: '1', folder_id: '1' })
  const address = URL.parse(url)
  if (!address || /[{}]/.test(url) || address.username || address.password) return false
  return address.protocol === 'https:' || (address.protocol === 'http:' && isLoopback(address.hostname))
}
