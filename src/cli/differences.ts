import { differencesBetween, type Fields, valueInWords } from '#src/inventory/differences.ts'

/** `enabled: true → false, labels.severity: "warning" → "critical"` */
export function differencesOf(before: Fields | null, after: Fields | null): string {
  return differencesBetween(before, after)
    .map(({ field, before: old, after: now }) => `${field}: ${valueInWords(old)} → ${valueInWords(now)}`)
    .join(', ')
}
