import { hash } from 'node:crypto'

/**
 * Returns what hashes recipients: equal whatever the case of their letters, different in every installation. The hash is
 * 16 bytes, as the characters of a latin1 string, which is the quickest to make.
 */
export function openRecipientHash(installationId: string, method: string): (recipient: string) => string {
  const before = `${installationId}\n${method}\n`
  return recipient => hash('sha256', before + recipient.toLowerCase(), 'latin1').slice(0, 16)
}
