/** How long a connection may take: `connect_timeout` of the URL, as in psql, or as long as is usual. */
export function connectWithinMs(url: string, usualMs = 10_000): number {
  const seconds = new URL(url).searchParams.get('connect_timeout')
  return seconds === null ? usualMs : Number(seconds) * 1_000
}

/** `host:port/database`, for people: never user or password. */
export function placeOf(url: string): string {
  const { hostname, port, pathname, searchParams } = new URL(url)
  const host = searchParams.get('host') ?? decodeURIComponent(hostname || 'localhost')
  return `${host}:${searchParams.get('port') || port || 5432}${pathname}`
}
