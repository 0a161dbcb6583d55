import type { IncomingHttpHeaders } from 'node:http'

/**
 * Whether a form was sent by a page of this very server. Browsers say so in `Sec-Fetch-Site`, older ones in `Origin`. Who
 * says nothing is no browser, and must bear a token, which a page of a stranger cannot make a browser send.
 */
export function isSameOrigin({ origin, host, authorization, ...headers }: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin') return false
  if (origin !== undefined) return URL.parse(origin)?.host === host?.toLowerCase()
  return site !== undefined || /^bearer /i.test(authorization ?? '')
}
