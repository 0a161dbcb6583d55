/*
 * Every parameter that libpq knows in the address of a Postgres, and what Ferry makes of it. What Ferry cannot keep is refused:
 * an address must not promise here what only psql does.
 */

/** `kept`: the values that mean what they mean to psql, because Ferry does just that. `remedy`: what to do instead of others. */
type Verdict = { readonly kept: 'any value' | readonly string[]; readonly remedy: string }

const KEPT: Verdict = { kept: 'any value', remedy: '' }
const NO_GSS = 'Ferry does not use GSSAPI; use a password or a certificate'
const NO_OAUTH = 'Ferry does not use OAuth; use DATABASE_PASSWORD_FILE'
const OWN_KEEPALIVE = 'leave it out; Ferry keeps connections alive, and notices a silent one, by itself'
const NO_CRL = 'Ferry does not check revocation lists'

/** libpq of Postgres 18, "Parameter Key Words". `sslmode`, the files of TLS and `connect_timeout` are checked further in `database-url.ts`. */
export const POSTGRES_PARAMETERS: Readonly<Record<string, Verdict>> = {
  host: KEPT,
  hostaddr: { kept: [], remedy: 'write the IP address as the host' },
  port: KEPT,
  dbname: { kept: [], remedy: 'write the database as the path of the URL' },
  user: KEPT,
  password: KEPT,
  passfile: { kept: [], remedy: 'use DATABASE_PASSWORD_FILE' },
  require_auth: {
    kept: [],
    remedy: 'write sslmode=verify-full: the certificate proves who asks for the password, however it asks',
  },
  channel_binding: {
    kept: ['disable', 'prefer'],
    remedy:
      'Ferry cannot insist on it; leave it out, and write sslmode=verify-full, which proves who the server is',
  },
  connect_timeout: KEPT,
  client_encoding: {
    kept: ['UTF8', 'utf8', 'UTF-8', 'utf-8', 'auto'],
    remedy: 'leave it out; Ferry works in UTF8',
  },
  options: KEPT,
  application_name: KEPT,
  fallback_application_name: KEPT,
  keepalives: { kept: ['1'], remedy: OWN_KEEPALIVE },
  keepalives_idle: { kept: [], remedy: OWN_KEEPALIVE },
  keepalives_interval: { kept: [], remedy: OWN_KEEPALIVE },
  keepalives_count: { kept: [], remedy: OWN_KEEPALIVE },
  tcp_user_timeout: { kept: [], remedy: OWN_KEEPALIVE },
  replication: { kept: ['false', 'off', 'no', '0'], remedy: 'leave it out; Ferry does not replicate' },
  gssencmode: { kept: ['disable', 'prefer'], remedy: NO_GSS },
  sslmode: KEPT,
  requiressl: { kept: [], remedy: 'write sslmode=require' },
  sslnegotiation: { kept: ['postgres'], remedy: 'leave it out; Ferry asks the server for TLS first' },
  sslcompression: { kept: ['0'], remedy: 'leave it out; TLS compression is insecure' },
  sslcert: KEPT,
  sslkey: KEPT,
  sslkeylogfile: { kept: [], remedy: 'leave it out; Ferry writes no keys of connections' },
  sslpassword: { kept: [], remedy: 'the key in sslkey must have no passphrase' },
  sslcertmode: { kept: ['allow'], remedy: 'leave it out; name a certificate in sslcert, or none' },
  sslrootcert: KEPT,
  sslcrl: { kept: [], remedy: NO_CRL },
  sslcrldir: { kept: [], remedy: NO_CRL },
  sslsni: { kept: ['1'], remedy: 'leave it out; Ferry names the server that it wants' },
  requirepeer: { kept: [], remedy: 'use a directory for the socket that only its owner may write to' },
  ssl_min_protocol_version: {
    kept: ['TLSv1', 'TLSv1.1', 'TLSv1.2'],
    remedy:
      'Ferry accepts TLSv1.2 and newer; to insist on TLSv1.3, set it on the server, or NODE_OPTIONS=--tls-min-v1.3',
  },
  ssl_max_protocol_version: {
    kept: ['TLSv1.3'],
    remedy: 'leave it out; set it on the server, or NODE_OPTIONS=--tls-max-v1.2',
  },
  min_protocol_version: { kept: ['3.0'], remedy: 'Ferry speaks version 3.0 of the protocol' },
  max_protocol_version: { kept: ['3.0', 'latest'], remedy: 'Ferry speaks version 3.0 of the protocol' },
  krbsrvname: { kept: [], remedy: NO_GSS },
  gsslib: { kept: [], remedy: NO_GSS },
  gssdelegation: { kept: ['0'], remedy: NO_GSS },
  scram_client_key: { kept: [], remedy: 'use DATABASE_PASSWORD_FILE' },
  scram_server_key: { kept: [], remedy: 'use DATABASE_PASSWORD_FILE' },
  service: { kept: [], remedy: 'write host, port and database in the URL' },
  servicefile: { kept: [], remedy: 'write host, port and database in the URL' },
  target_session_attrs: {
    kept: ['any', 'read-write', 'primary'],
    remedy: 'Ferry needs a server that accepts writes',
  },
  load_balance_hosts: { kept: ['disable'], remedy: 'leave it out; Ferry connects to one host' },
  oauth_issuer: { kept: [], remedy: NO_OAUTH },
  oauth_client_id: { kept: [], remedy: NO_OAUTH },
  oauth_client_secret: { kept: [], remedy: NO_OAUTH },
  oauth_scope: { kept: [], remedy: NO_OAUTH },
}

/** Returns what is wrong with the parameters of an address; null if each is kept. It repeats no value that may be secret. */
export function parameterMistakeIn(parameters: URLSearchParams): string | null {
  for (const [name, value] of parameters) {
    // Of the driver: Ferry adds it itself.
    if (name === 'uselibpqcompat') continue
    const verdict = Object.hasOwn(POSTGRES_PARAMETERS, name) ? POSTGRES_PARAMETERS[name] : undefined
    if (verdict === undefined)
      return `has the parameter ${quoted(name)}, which is none of psql's; leave it out`
    const { kept, remedy } = verdict
    if (kept === 'any value' || kept.includes(value)) continue
    if (kept.length === 0) return `has ${name}, which Ferry does not support; ${remedy}`
    return `has ${name}=${quoted(value)}; ${remedy}`
  }
  return null
}

/** Long or strange text is no value of any parameter; it may be a secret in the wrong place. */
function quoted(text: string): string {
  return /^[\w.-]{1,30}$/.test(text) ? text : '…'
}
