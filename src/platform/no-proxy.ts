/**
 * Whether `NO_PROXY` lists the host of a URL. An entry is a host or a domain with all its hosts (`example.com`,
 * `.example.com`), the hosts of a domain without the domain itself (`*.example.com`), or `*` for all. An entry with a port
 * is for that port only.
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

/** Removes the brackets of an IPv6 address and the dot at the end of a fully qualified name. */
function plainHost(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[(.+)\]$/, '$1')
    .replace(/(?<=.)\.$/, '')
}
