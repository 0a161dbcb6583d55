import { isLoopback } from '../model/loopback.ts'

/**
 * Returns what is wrong with an address that would send `what` unencrypted to another machine; null if it would not, or if
 * `FERRY_ALLOW_HTTP` allows it.
 */
export function plainHttpMistake(
  url: string | undefined,
  setting: string,
  what: string,
  { FERRY_ALLOW_HTTP: isAllowed }: { readonly FERRY_ALLOW_HTTP: boolean },
): string | null {
  const address = URL.parse(url ?? '')
  if (isAllowed || address?.protocol !== 'http:' || isLoopback(address.hostname)) return null
  return (
    `${setting} would send ${what} to ${address.hostname} in plain http; ` +
    'write https:, or set FERRY_ALLOW_HTTP=1 if you trust that network'
  )
}
