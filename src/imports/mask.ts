/** Shows enough of a recipient to recognise whose it may be, and no more: `a…@example.com`. */
export function maskRecipient(recipient: string): string {
  const at = recipient.lastIndexOf('@')
  const [first = ''] = recipient
  return at > 0 ? `${first}…${recipient.slice(at)}` : `${first}…`
}
