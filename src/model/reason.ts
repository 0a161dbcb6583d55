/**
 * Why something failed, in words that hold no secret: other fields of an error may hold the commands sent, the password
 * among them. Where a name has several addresses and none answers, the message is empty and the code says why.
 */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.message || ('code' in error ? String(error.code) : error.name)
}
