/**
 * Returns a text in which what is of one run of a test only has its name in place of its value. How far columns are apart follows
 * from it, and is tested with the lists.
 */
export function steady(text: string): string {
  return text
    .replaceAll(/\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?Z/g, 'THEN')
    .replaceAll(/\b\d\d:\d\d:\d\dZ/g, 'THEN') // of the same day
    .replaceAll(/\b(\d+ min )?\d+(\.\d)? (ms|s)\b/g, 'SHORT')
    .replaceAll(/\b(\d+ h) \d+ min\b/g, '$1 N min')
    .replaceAll(/"(durationMs|ageMs)":\d+/g, '"$1":LONG')
    .replaceAll(/"(fingerprint|keyHash)":"[\da-f-]+"/g, '"$1":HASH')
    .replaceAll(/\b[\da-f]{32}\b/g, 'REQUEST')
    .replaceAll(/\b1\d{9}(\d{3})?\b/g, 'UNIX')
    .replaceAll(/ {2,}/g, '  ')
}
