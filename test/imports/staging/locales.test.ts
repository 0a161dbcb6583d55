import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { openStagingHarness, type StagingHarness } from './staging-harness.ts'

let harness: StagingHarness
beforeAll(async () => {
  harness = await openStagingHarness()
})
afterAll(() => harness[Symbol.asyncDispose]())
beforeEach(() => harness.discardAll())

const MIXED =
  'email,locale\na1@example.com,de\na2@example.com,de\na3@example.com,DE\na4@example.com,en\na5@example.com,en_GB\n' +
  'a6@example.com,en-UK\na7@example.com,fr-FR\na8@example.com,xx-YY\na9@example.com,ada@example.com\na10@example.com,\n'

test('a dry run says which option maps languages without a region, the most frequent first', async () => {
  const staged = await harness.dryRun(MIXED)

  expect(staged.summary).toMatchObject({ rejected: 7, pending: 3 })
  expect(staged.warnings).toEqual([
    '7 rows rejected: the locale has no region, or does not exist: de (3 rows), en (1 row), en-gb (1 row). ' +
      'Map it to the locale that is meant, for example: --map-locale de=de-DE --map-locale en=en-US --map-locale en-gb=en-GB',
  ])
  expect(staged.warnings.join()).not.toContain('ada@')
  expect(staged.rejectSamples[0]?.message).toContain('--map-locale de=de-DE')
})

test('--map-locale says which locale is meant, whatever its case and separator', async () => {
  const staged = await harness.stage(MIXED, {
    mapLocale: { de: 'de-AT', EN: 'en-GB', 'en-gb': 'en-GB', 'en-UK': 'en-GB', 'fr-FR': 'fr-CA' },
  })

  expect(staged.summary).toMatchObject({ rejected: 2, pending: 8 })
  expect((await harness.recipients()).map(({ locale }) => locale)).toEqual([
    ...Array(3).fill('de-AT'),
    ...Array(3).fill('en-GB'),
    'fr-CA',
    'en-US',
  ])
})

test('a locale that is mapped to none is refused before anything is read', async () => {
  const refused = await harness.refusal(MIXED, { mapLocale: { de: 'de' } })

  expect(refused.message).toBe('--map-locale de=de: de is not a locale.')
})

test('no option is named for what is no language', async () => {
  expect((await harness.dryRun('email,locale\na@example.com,xx-YY\nb@example.com,zz\n')).warnings).toEqual([
    'No row of the file will be sent.',
  ])
})

test('20,000 rows of which more than half have no region are sent with two options', async () => {
  const locales = ['de', 'en', 'de-DE', 'en-GB']
  const rows = Array.from({ length: 20_000 }, (_, n) => `p${n}@example.com,${locales[(n * 7) % 4]}`)
  const content = `email,locale\n${rows.join('\n')}\n`

  const dry = await harness.dryRun(content)
  expect(dry.summary).toMatchObject({ rejected: 10_000, pending: 10_000 })
  expect(dry.warnings[0]).toContain('--map-locale de=de-DE --map-locale en=en-US')

  const mapped = await harness.dryRun(content, { mapLocale: { de: 'de-DE', en: 'en-US' } })
  expect(mapped.summary).toMatchObject({ rejected: 0, pending: 20_000 })
})

test('only the first 1,000 different values are counted, so that a column of nonsense takes no memory', async () => {
  const warningsAfter = async (values: number) => {
    const nonsense = Array.from({ length: values }, (_, n) => `a@example.com,xx-${1_000 + n}\n`)
    return (await harness.dryRun(`email,locale\n${nonsense.join('')}a@example.com,de\n`)).warnings.join()
  }
  expect(await warningsAfter(999)).toContain('--map-locale de=de-DE')
  expect(await warningsAfter(1_000)).not.toContain('--map-locale')
})

test('what stands behind a language and is no part of a locale may be a person, and is not named', async () => {
  const { warnings } = await harness.dryRun('email,locale\na@example.com,de-x-lovelace\nb@example.com,de\n')
  expect(warnings.join()).toContain('de (1 row)')
  expect(warnings.join()).not.toContain('lovelace')
})
