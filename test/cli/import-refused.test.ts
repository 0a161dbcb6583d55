import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { confirmImport } from '#src/imports/control/decide.ts'
import { ADA } from '#test/support/acted-by.ts'
import { waitFor } from '#test/support/wait-for.ts'
import { directory, file, HEADER, open, PAGE, people, subscribed } from './import-files.ts'
import { accountsFile } from './open-cli.ts'
import { jsonLines, startFerry } from './run-ferry.ts'
import { canOpenTerminal, inTerminal } from './terminal.ts'

const INTERRUPT = fileURLToPath(new URL('interrupt-when-shown.ts', import.meta.url))

describe('what cannot be imported', () => {
  test('is refused before anything is read, sent or stored', async () => {
    await using cli = await open()
    const path = people(1)
    const account = { baseUrl: cli.sandbox.baseUrl, appKeyEnv: 'KEY', limitGroup: 'one' }
    const several = {
      FERRY_BASE_URL: '',
      FERRY_APP_KEY: '',
      FERRY_ACCOUNTS_FILE: accountsFile({ name: 'eu', ...account }, { name: 'us', ...account }),
      KEY: 'k',
    }
    const ends = await Promise.all([
      cli.ferryRun(`import ${path} ${PAGE}`),
      cli.ferryRun(`import ${path}.none ${PAGE}`),
      cli.ferryRun(`import ${directory()} ${PAGE}`),
      cli.ferryRun(`import ${path} ${PAGE} --suppress ${path}.none`),
      cli.ferryRun(`import ${path} ${PAGE} --map recipent=Email`),
      cli.ferryRun(`import ${path} ${PAGE} --yes`, several),
      cli.ferryRun(`import ${path} ${PAGE} --yes --account other`),
      cli.ferryRun(`import ${path}.none ${PAGE} --yes`),
      cli.ferryRun(`import ${path} ${PAGE} --yes`, { FERRY_BASE_URL: '', FERRY_APP_KEY: '' }),
    ])
    const told = [
      'add --yes if you are sure',
      'There is no file',
      'is a directory',
      'There is no file',
      'did you mean recipient?',
      'name the one that owns the page with --account: eu, us',
      '"other" is not an account; known: default',
      'people.csv.none',
      'FERRY_APP_KEY',
    ]
    expect(ends.map(({ code, stdout, stderr }) => ({ code, stdout, stderr }))).toEqual(
      told.map(words => ({ code: 2, stdout: '', stderr: expect.stringContaining(words) })),
    )
    expect(await cli.query('select from ferry.imports')).toEqual([])
  })

  test('Ctrl-C while a file is read leaves nothing behind', async () => {
    await using cli = await open()
    await using ferry = cli.ferryStart(`import ${people(400_000)} ${PAGE} --yes`)
    // The import itself cannot be seen before the whole file is read.
    const beingCopied = () =>
      cli.query('select from pg_stat_progress_copy where datname = current_database()')
    await waitFor(async () => (await beingCopied()).length > 0, { what: 'rows to be copied' })
    ferry.child.kill('SIGINT')
    expect((await ferry.ended).code).toBe(130)
    expect(await cli.query('select from ferry.imports')).toEqual([])
    expect(await cli.query('select from ferry.import_recipients')).toEqual([])
  })

  test('Ctrl-C while it is shown what was read discards that, also with --yes', async () => {
    await using cli = await open()
    const args = ['import', people(3), ...PAGE.split(' '), '--yes', '--json']
    const env = { ...cli.env, FERRY_TEST_INTERRUPT_AT: '"staged"' }
    await using ferry = startFerry(args, env, ['--import', INTERRUPT])
    const ended = await ferry.ended
    expect(ended).toMatchObject({
      code: 130,
      stderr: 'ferry: nothing was sent; the rows that were read were discarded\n',
    })
    expect(jsonLines(ended)).toMatchObject([{ staged: {} }, { import: null, status: 'staging', pending: 3 }])
    expect(await cli.query('select from ferry.imports')).toEqual([])
    expect(subscribed(cli)).toBe(0)
  })
})

test.skipIf(!canOpenTerminal)(
  'what a person does not confirm is not sent, and nothing of it is kept',
  async () => {
    await using cli = await open()
    const command = ['import', people(3), ...PAGE.split(' ')]
    const question = 'Subscribe 3 people? They are active at once. [y/N]'
    const refused = await inTerminal(command, cli.env, { input: 'n\n' })
    expect(refused.code).toBe(1)
    expect(refused.shown).toContain(question)
    expect(refused.shown).toContain('nothing was sent; the rows that were read were discarded')
    expect(await cli.query('select from ferry.imports')).toEqual([])
    expect(subscribed(cli)).toBe(0)
    const confirmed = await inTerminal([...command, '--wait'], cli.env, { input: 'y\n' })
    expect([confirmed.code, subscribed(cli)]).toEqual([0, 3])
  },
)

test.skipIf(!canOpenTerminal)('nobody is asked where there is nobody to send to', async () => {
  await using cli = await open()
  const command = ['import', file([HEADER, 'nobody,true,,en-US']), ...PAGE.split(' ')]
  const ended = await inTerminal(command, cli.env, { input: 'n\n' })
  expect(ended.code).toBe(3)
  expect(ended.shown).not.toContain('[y/N]')
})

test.skipIf(!canOpenTerminal)('whoever ends the input at the question does not confirm', async () => {
  await using cli = await open()
  const ended = await inTerminal(['import', people(3), ...PAGE.split(' ')], cli.env, { input: '\u0004' })
  expect(ended.shown).toMatch(
    /\[y\/N\] [^\n]*\nferry: nothing was sent; the rows that were read were discarded\n$/,
  )
  expect(ended.code).toBe(1)
  expect(await cli.query('select from ferry.imports')).toEqual([])
})

test.skipIf(!canOpenTerminal)(
  'whoever refuses an import that another person has confirmed meanwhile is told that it is sent',
  async () => {
    await using cli = await open()
    const command = ['import', people(3), ...PAGE.split(' '), '--json']
    for (const [id, input] of [
      [1n, 'n\n'],
      [2n, 'y\n'],
    ] as const) {
      const act = () => confirmImport(cli.ferry.pool, id, ADA)
      const { code, shown } = await inTerminal(command, cli.env, { input, act })
      expect(shown).toContain(
        `ferry: somebody else decided about import ${id} meanwhile: it is queued. \`ferry imports show ${id}\` shows it.`,
      )
      expect(shown).not.toContain('nothing was sent')
      expect(shown).toContain(`"import":"${id}"`)
      expect(code).toBe(1)
    }
    const queued = { status: 'queued' }
    expect(await cli.query('select status from ferry.imports')).toEqual([queued, queued])
  },
)

test.skipIf(!canOpenTerminal)(
  'an import that was left to the workers goes on after Ctrl-C, which is no failure',
  async () => {
    await using cli = await open()
    const left = await inTerminal(['import', people(3), ...PAGE.split(' '), '--yes'], cli.env, {
      once: '0 of 3 rows',
      input: '\u0003',
    })
    expect(left.shown).toContain('import 1 continues. `ferry imports watch 1` shows its progress again.')
    expect(left.code).toBe(0)
    expect(await cli.query('select status from ferry.imports')).toEqual([{ status: 'queued' }])
  },
)
