/**
 * Why something failed, without secrets: other fields of an error may contain the commands sent, and so the password. If a
 * host name has several addresses and none answers, the message is empty, and the code is returned.
 */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.message || ('code' in error ? String(error.code) : error.name)
}

/** ` (NoPermission)`, to be added to a message; '' without a code, or if the message contains it already. */
export function codeAside(code: string | null, message: string | null): string {
  return code === null || message?.includes(code) ? '' : ` (${code})`
}
