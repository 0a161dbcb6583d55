/**
 * Says whether `NO_PROXY` lists a host: by its name or a domain it belongs to (`example.com`, `.example.com`), by a
 * domain whose hosts it means but not itself (`*.example.com`), or by `*`; an entry with a port means that port only.
 */
export function isExcepted({ protocol, hostname, port }: URL, noProxy: string): boolean {
  const name = plainHost(hostname)
  const number = port || (protocol === 'https:' ? '443' : '80')
  return noProxy.split(/[,\s]+/).some(entry => {
    const [, host = entry, onlyPort] = /^(\[.+\]|[^:]+):(\d+)$/.exec(entry) ?? []
    if (entry === '' || (onlyPort !== undefined && onlyPort !== number)) return false
    if (host === '*') return true
    const domain = plainHost(host.replace(/^\*?\./, ''))
    return (name === domain && !host.startsWith('*')) || name.endsWith(`.${domain}`)
  })
}

/** Without the brackets of an IPv6 address and the dot at the end of a full name. */
function plainHost(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[(.+)\]$/, '$1')
    .replace(/(?<=.)\.$/, '')
}
