/** HTTP cannot listen where the settings say. */
export class AddressUnusable extends Error {
  override readonly name = 'AddressUnusable'
  readonly whatToDo =
    'Set FERRY_HTTP_PORT to a free port (0 takes any), or FERRY_HTTP_HOST to an address of this machine.'
  constructor(address: string, cause: NodeJS.ErrnoException) {
    super(`HTTP cannot listen on ${address}: ${whyNot(cause)}.`, { cause })
  }
}

function whyNot({ code, message }: NodeJS.ErrnoException): string {
  if (code === 'EADDRINUSE') return 'another program uses this port'
  if (code === 'EADDRNOTAVAIL') return 'this machine does not have this address'
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'this name leads to no address'
  if (code === 'EACCES') return 'this user may not use this port'
  return message
}
