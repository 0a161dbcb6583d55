import { hash } from 'node:crypto'
import { type AnyRow, type Declaration, definitionOf, type McpTool } from './fields.ts'

/**
 * The first 128 bits of the SHA-256 of a row's canonical JSON, as 16 characters of one byte each: 16 bytes in Postgres, and two
 * of a billion rows share one by chance with a probability of about 10^-21.
 */
export function fingerprint(canonicalJson: string | Buffer): string {
  return hash('sha256', canonicalJson, 'latin1').slice(0, FINGERPRINT_BYTES)
}

export const FINGERPRINT_BYTES = 16

/** Returns fingerprints as Postgres reads a uuid. To write many at once takes a fraction of the time. */
export function hexOf(fingerprints: readonly string[]): string[] {
  const hex = Buffer.from(fingerprints.join(''), 'latin1').toString('hex')
  const digits = 2 * FINGERPRINT_BYTES
  return fingerprints.map((_, n) => hex.slice(n * digits, (n + 1) * digits))
}

/** Returns a fingerprint as Postgres writes a uuid. */
export function uuidOf(fingerprint: string): string {
  return hexOf([fingerprint])
    .join('')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

/** Returns a function that writes the definition of a row as one text, the same whatever the order of keys. */
export function canonicalForm({ fields }: Declaration): (row: AnyRow) => string {
  const names = definitionOf(fields)
  return row => JSON.stringify(names.map(name => canonicalValue(row[name])))
}

function canonicalValue(value: AnyRow[string] | undefined): unknown {
  if (typeof value === 'number' || typeof value === 'bigint') return `${value}`
  if (typeof value !== 'object' || value === null) return value
  return isTools(value) ? value.map(tool => [tool.name, tool.description]) : canonicalEntries(value)
}

function isTools(value: object): value is readonly McpTool[] {
  return Array.isArray(value)
}

/** Returns labels as the definition of a row has them: in the order of their keys. */
export function canonicalEntries(labels: Readonly<Record<string, string>>): [string, string][] {
  const entries = Object.entries(labels)
  return entries.length > 1 ? entries.sort(([a], [b]) => (a < b ? -1 : 1)) : entries
}
