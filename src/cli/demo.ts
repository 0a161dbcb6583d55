import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import type { Config } from '#src/config.ts'
import type { Ferry } from '#src/ferry.ts'
import { counted, number } from '#src/model/counted.ts'
import { duration } from '#src/model/duration.ts'
import type { Sandbox } from '#src/sandbox/sandbox.ts'
import { actedBy } from './acted-by.ts'
import { type CommandContext, runOneShot } from './command-context.ts'
import { CommandFailed } from './errors.ts'
import { EXIT, type ExitCode } from './exit.ts'
import { print, printAside, shownPath } from './output.ts'
import { SANDBOX } from './sandbox-note.ts'

/*
 * Shows all of Ferry on made-up data, in a data directory of its own (`demo` in the usual one), so that it changes nothing
 * else and can be repeated:
 *
 *     embedded Postgres ─► migrations ─► sync both inventories ─► change the sandbox ─► sync both ─► print tables
 *                                    ─► import a file of subscribers ─► compare Postgres with the sandbox
 *
 * Nothing keeps running. The data stays.
 */

/** Changes to the sandbox between the two nights: two rounds of its usual mix. */
const CHANGES = 24

const BIN = fileURLToPath(new URL('../../bin/ferry', import.meta.url))

/** How to call the command: by its path in a clone, which works in any case; by its name in an installed package. */
const COMMAND = existsSync(BIN) ? BIN : 'ferry'

type Options = { json?: true }

export function addDemo(program: Command): void {
  program
    .command('demo')
    .description('show everything on made-up data; needs no setup and leaves nothing running')
    .option('--json', 'print one JSON object per run and import instead of tables')
    .action((options: Options) => runOneShot(context => demo(options, context)))
}

async function demo(options: Options, { config, log, signal }: CommandContext): Promise<ExitCode> {
  const startedAtMs = performance.now()
  const say = options.json ? printAside : print
  say('The demo uses the built-in SANDBOX platform with made-up data, whatever is configured.')
  const { openSandbox } = await import('#src/sandbox/sandbox.ts')
  const { openEmbeddedPostgres } = await import('#src/embedded/postgres.ts')
  const { openFerry } = await import('#src/ferry.ts')
  const { printTables } = await import('./demo/tables.ts')
  const { differencesToSandbox } = await import('./demo/check.ts')
  const { writeSamplePeople } = await import('./demo/sample-people.ts')
  const { differencesOfImport, importPeople } = await import('./demo/import-people.ts')

  await using sandbox = await openSandbox()
  const dataDir = join(config.dataDir, 'demo')
  say(`Starting Postgres in ${shownPath(dataDir)} …`)
  await using postgres = await openEmbeddedPostgres({ dataDir, log })
  await emptyDatabase(postgres.url)
  const settings = await demoConfig(dataDir, postgres.url, sandbox)
  await using ferry = await openFerry(settings, { log, signal })
  say(
    `${counted(ferry.migrated, 'migration')} ran. Two nights of the platform, with a day of changes between them …\n`,
  )

  const first = await night(ferry, options, signal)
  const changes = sandbox.state.mutate(CHANGES)
  const second = await night(ferry, options, signal)

  if (!options.json) await printTables(ferry.pool, first, second)
  const people = await writeSamplePeople(dataDir)
  const imported = await importPeople(ferry, people, options, signal)
  const wrong = [
    ...(await differencesToSandbox(ferry.pool, sandbox.state, changes, second)),
    ...differencesOfImport(imported, people, sandbox.state),
  ]
  if (wrong.length > 0) throw new CommandFailed(`Postgres and the sandbox differ: ${wrong.join('; ')}`)
  const { rules, servers } = sandbox.state
  say(
    `\nChecked: Postgres holds exactly what the platform holds, ${counted(rules.size, 'alert rule')} and ${servers.size} MCP`,
  )
  say(
    `servers, and the history of what changed; and each of ${number(people.valid.size)} people was subscribed exactly once, and nobody else was.`,
  )
  say(`It took ${duration(performance.now() - startedAtMs)}; nothing is left running.\n`)
  say('The data stays. To look at it:')
  const ferryThere = `  FERRY_DATA_DIR=${shownPath(dataDir)} ${shownPath(COMMAND)}`
  say(`${ferryThere} runs list`)
  say(`${ferryThere} imports show ${imported.import}`)
  say(`${ferryThere} up      (shows how to open it with psql)`)
  return EXIT.done
}

/** Returns the default settings, whatever the environment has: folders or limits of a real account do not apply. */
async function demoConfig(dataDir: string, databaseUrl: string, sandbox: Sandbox): Promise<Config> {
  const { readConfig, withAccount } = await import('#src/config.ts')
  return withAccount({ ...readConfig({}), dataDir, databaseUrl }, SANDBOX, sandbox.baseUrl, sandbox.appKey)
}

async function night(ferry: Ferry, options: Options, signal: AbortSignal) {
  const { takeSnapshot } = await import('#src/inventory/history/snapshots.ts')
  const { explainRun, printJsonRun } = await import('./run-result.ts')
  const taken = await takeSnapshot(ferry, { account: SANDBOX, trigger: 'manual', by: actedBy() }, signal)
  signal.throwIfAborted()
  if (options.json) taken.runs.forEach(printJsonRun)
  taken.runs.forEach(explainRun)
  if (taken.snapshot === null) throw new CommandFailed('a night of the demo failed; the lines above say why')
  return { snapshot: taken.snapshot, runs: taken.runs }
}

/** Removes the data of an earlier demo. Throws `CommandFailed` if another program is connected to it. */
async function emptyDatabase(url: string): Promise<void> {
  const { Client } = await import('pg')
  const client = new Client({ connectionString: url, application_name: 'ferry demo' })
  client.on('error', () => {}) // fails the statement in flight, or the next one
  await client.connect()
  try {
    const { rowCount } = await client.query(
      `select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
         and usesysid is not null`,
    )
    if (rowCount !== 0)
      throw new CommandFailed("another program is connected to the demo's database; stop it first")
    await client.query('set client_min_messages = warning')
    await client.query('drop schema if exists ferry, ferry_internal cascade')
  } finally {
    await client.end()
  }
}
