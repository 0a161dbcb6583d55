import { expect, test, vi } from 'vitest'
import { printStagingReport } from '#src/cli/import/print-report.ts'
import type { StagingReport } from '#src/imports/staging/staging-report.ts'

const STAGED: StagingReport = {
  import: 7n,
  summary: {
    import: 7n,
    account: 'default',
    page: 12n,
    status: 'staging',
    read: 2_006,
    sent: 0,
    pending: 2_000,
    uncertain: 0,
    rejected: 3,
    duplicate: 2,
    suppressed: 1,
    alreadyImported: 0,
    batches: 2,
    requests: 0,
    durationMs: 1_000,
  },
  file: {
    compression: 'gzip',
    format: 'csv',
    delimiter: ';',
    columns: ['E-Mail', 'Company', 'Phone'],
    mapped: { recipient: 'E-Mail', locale: 'Sprache' },
    unused: ['Company', 'Phone'],
  },
  reasons: [
    { kind: 'rejected', reason: 'not an e-mail address', rows: 3 },
    { kind: 'duplicate', reason: 'same settings', rows: 2 },
    { kind: 'suppressed', reason: 'on the list', rows: 1 },
  ],
  samples: [
    { line: 2n, recipient: 'a…@example.com', all: true, componentIds: [], locale: 'en-US' },
    { line: 3n, recipient: 'b…@example.com', all: false, componentIds: ['c1', 'c2'], locale: 'de-DE' },
  ],
  rejectSamples: [{ line: 9n, column: 'E-Mail', message: 'It has no @.' }],
  warnings: ['One.', 'Two.'],
}

function printed(path: string, staged: StagingReport): string {
  using stdout = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  printStagingReport(path, staged, 60_000)
  return stdout.mock.calls.map(([text]) => `${text}`).join('')
}

test('what was found in a file is told whole: how it is read, what becomes of its rows, the first of them, and how long it takes', () => {
  expect(
    printed('people.csv.gz', STAGED),
  ).toBe(`people.csv.gz: CSV, separated by semicolon, compressed with gzip
  recipient from "E-Mail", locale from "Sprache"
  not used: "Company", "Phone"

 rows  what        why
2,006  read
2,000  to be sent
    3  rejected    not an e-mail address
    2  duplicate   same settings
    1  suppressed  on the list

The first rows, as they would be sent (addresses are hidden here)
line  recipient       components  locale
   2  a…@example.com  all         en-US
   3  b…@example.com  c1, c2      de-DE

Rejected: 1 of 3 rows
line  column  what is wrong
   9  E-Mail  It has no @.
warning: One.
warning: Two.

2,000 rows to page 12 of account default, in 2 calls: about 1 min at the rate limit.
`)
})

test('of a file without a row to be sent, of which nothing else is known, no more is said', () => {
  const none = {
    ...STAGED,
    summary: { ...STAGED.summary, read: 0, pending: 0, batches: 0 },
    file: {
      compression: 'none',
      format: 'ndjson',
      delimiter: null,
      columns: null,
      mapped: {},
      unused: [],
    } as const,
    reasons: [],
    samples: [],
    rejectSamples: [],
    warnings: [],
  }
  expect(printed('-', none)).toBe(`stdin: NDJSON

rows  what        why
   0  read
   0  to be sent

No recipients to send.
`)
})

test('what the file says of itself reaches no terminal as a command, and turns no text around', () => {
  const evil = 'a\u009b2Jb\u202ec\u2028d'
  const { file, samples } = STAGED
  const told = printed(evil, {
    ...STAGED,
    file: { ...file, mapped: { recipient: evil }, unused: [evil, evil] },
    reasons: [{ kind: 'rejected', reason: evil, rows: 3 }],
    samples: [{ ...samples[1]!, recipient: evil, componentIds: [evil], locale: evil }],
    rejectSamples: [{ line: 9n, column: evil, message: evil }],
    warnings: [evil],
  })
  expect(told).not.toMatch(/[^\P{Cc}\n]|[\p{Zl}\p{Zp}\p{Bidi_Control}]/u)
  expect(told.split('a\ufffd2Jb\ufffdc\ufffdd')).toHaveLength(12)
})
