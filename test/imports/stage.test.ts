import { expect, test } from 'vitest'
import { openStagingDesk } from './staging-desk.ts'

test('stages the rows of a CSV as an import that waits to be confirmed', async () => {
  await using desk = await openStagingDesk()

  const staged = await desk.stage(
    'Email,All,Component IDs,Locale,Company\n' +
      'ada@example.com,yes,,en-GB,Analytical\n' +
      'ben@example.com,no,c1|c2,,\n' +
      'not an address,yes,,,\n',
  )

  expect(staged.summary).toMatchObject({ status: 'staging', read: 3, rejected: 1, pending: 2, batches: 1 })
  expect(staged.file).toEqual({
    compression: 'none',
    format: 'csv',
    delimiter: ',',
    columns: ['Email', 'All', 'Component IDs', 'Locale', 'Company'],
    mapped: { recipient: 'Email', all: 'All', component_ids: 'Component IDs', locale: 'Locale' },
    unused: ['Company'],
  })
  expect(await desk.recipients()).toEqual([
    { line: 2, recipient: 'ada@example.com', all: true, ids: null, locale: 'en-GB' },
    { line: 3, recipient: 'ben@example.com', all: false, ids: ['c1', 'c2'], locale: 'en-US' },
  ])
  expect(await desk.rejects()).toEqual([
    { line: 4, reason: 'not an e-mail address', column: 'Email', raw: 'not an address,yes,,,' },
  ])
  expect(staged.samples[0]).toEqual({
    line: 2n,
    recipient: 'a…@example.com',
    all: true,
    componentIds: [],
    locale: 'en-GB',
  })
  expect(staged.rejectSamples).toHaveLength(1)
  const imports = await desk.query(
    'select id, status, read, recipients, last_line::int, staged_at is not null as staged from ferry.imports',
  )
  expect(imports).toEqual([
    { id: String(staged.import), status: 'staging', read: 3, recipients: 2, last_line: 4, staged: true },
  ])
})

test('a dry run counts the same and keeps nothing', async () => {
  await using desk = await openStagingDesk()
  const content = 'email\nada@example.com\nADA@example.com\nx\nben@example.com\n'

  const dry = await desk.dryRun(content, { suppress: await desk.file('ben@example.com\n') })

  expect(dry.import).toBeNull()
  expect(dry.summary).toMatchObject({
    import: null,
    read: 4,
    rejected: 1,
    duplicate: 1,
    suppressed: 1,
    pending: 1,
  })
  expect(await desk.query('select from ferry.imports')).toEqual([])
  expect(await desk.recipients()).toEqual([])
  const stored = await desk.stage(content, { suppress: await desk.file('ben@example.com\n') })
  expect({ ...stored.summary, import: null, durationMs: 0 }).toEqual({ ...dry.summary, durationMs: 0 })
  expect(stored.reasons).toEqual(dry.reasons)
})
