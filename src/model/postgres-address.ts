/** `host:port/database`, for people: never user or password. */
export function placeOf(url: string): string {
  const { hostname, port, pathname, searchParams } = new URL(url)
  const host = searchParams.get('host') ?? decodeURIComponent(hostname || 'localhost')
  return `${host}:${searchParams.get('port') || port || 5432}${pathname}`
}

/** The parameter of an address that names the file with its password. The address itself then holds no secret. */
export const PASSWORD_FILE = 'ferry_password_file'
