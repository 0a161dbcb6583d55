import { hash } from 'node:crypto'

/** Returns what hashes recipients: equal whatever the case of their letters, different in every installation. */
export function openRecipientHash(installationId: string, method: string): (recipient: string) => string {
  const before = `${installationId}\n${method}\n`
  return recipient => hash('sha256', before + recipient.toLowerCase(), 'hex').slice(0, 32)
}
