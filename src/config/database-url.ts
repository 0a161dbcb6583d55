import { accessSync, constants } from 'node:fs'

/*
 * The address of a Postgres, as libpq knows it and as far as Ferry can keep what it asks for. What Ferry cannot keep is
 * refused by name: nothing is worse than an address that means something else here than in psql.
 */

/** The modes of libpq that neither fall back to plain text nor leave open whether it is encrypted. */
const SSL_MODES = ['disable', 'require', 'verify-ca', 'verify-full', 'no-verify']
const SSL_FILES = ['sslrootcert', 'sslcert', 'sslkey']

/** What libpq would heed, and Ferry does not. */
const REFUSED: Readonly<Record<string, string>> = {
  hostaddr: 'write the address as the host',
  service: 'write host, port and database themselves',
  passfile: 'use DATABASE_PASSWORD_FILE',
  sslcrl: 'Ferry checks no revocation lists',
  sslpassword: 'the key in sslkey must have no passphrase',
}

/** Read-write is what Ferry needs anyway. */
const SESSIONS = ['any', 'read-write', 'primary']

/**
 * Returns the address in the one form in which every part of Ferry can read it, or what is wrong with it. Mistakes name
 * no part of the address that may be secret.
 */
export function readPostgresUrl(text: string): { readonly url: string } | { readonly mistake: string } {
  // The host may stand among the parameters, as that of a socket has to.
  const url =
    URL.parse(text) ?? URL.parse(text.replace('@/', '@localhost/').replace(/@(:\d+)\//, '@localhost$1/'))
  if (url === null || !/^postgres(ql)?:$/.test(url.protocol)) {
    return /^postgres(ql)?:\/\/[^/]*,/.test(text) ? { mistake: SEVERAL_HOSTS } : { mistake: NOT_AN_ADDRESS }
  }
  const mistake = mistakeIn(url)
  if (mistake !== null) return { mistake }
  // As psql reads it: `require` encrypts, and only `verify-ca` and `verify-full` look at the certificate.
  const mode = url.searchParams.get('sslmode')
  if (mode !== null && mode !== 'no-verify') url.searchParams.set('uselibpqcompat', 'true')
  return { url: url.href }
}

const NOT_AN_ADDRESS =
  'is not an address of its kind; write it like postgres://user:password@host:5432/database'
const SEVERAL_HOSTS =
  'names several hosts, and Ferry connects to one; write the name or address that always leads to the primary'

function mistakeIn({ hostname, port: inAddress, searchParams }: URL): string | null {
  if (`${hostname}${searchParams.get('host') ?? ''}${searchParams.get('port') ?? ''}`.includes(','))
    return SEVERAL_HOSTS
  const port = searchParams.get('port') || inAddress
  if (port && !isPort(port)) return `has the port ${port}; write a whole number from 1 to 65535`
  const refused = Object.keys(REFUSED).find(name => searchParams.has(name))
  if (refused !== undefined) return `has ${refused}, which Ferry does not support; ${REFUSED[refused]}`
  const session = searchParams.get('target_session_attrs')
  if (session !== null && !SESSIONS.includes(session)) {
    return `has target_session_attrs=${session}; Ferry needs a server that takes writes`
  }
  return sslMistakeIn(searchParams)
}

/** The driver never comes back from a connection to what is none. */
function isPort(text: string): boolean {
  return /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535
}

function sslMistakeIn(parameters: URLSearchParams): string | null {
  const mode = parameters.get('sslmode')
  if (mode === 'allow' || mode === 'prefer') {
    return `has sslmode=${mode}, which may go without encryption; write disable, require, verify-ca or verify-full`
  }
  if (mode !== null && !SSL_MODES.includes(mode)) {
    return 'has an sslmode that is none; write disable, require, verify-ca or verify-full'
  }
  if (parameters.get('sslrootcert') === 'system') {
    return 'has sslrootcert=system; leave it out: the authorities Node knows count then, and those of NODE_EXTRA_CA_CERTS'
  }
  if (mode === 'verify-ca' && !parameters.has('sslrootcert')) {
    return 'has sslmode=verify-ca without sslrootcert; name the file of the authority, or write verify-full'
  }
  for (const name of SSL_FILES) {
    const path = parameters.get(name)
    if (path === null) continue
    if (mode === null) return `has ${name} without sslmode; write sslmode=verify-full too`
    if (!isReadable(path)) return `has ${name}=${path}, which cannot be read`
  }
  return null
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK)
    return true
  } catch {
    return false
  }
}
