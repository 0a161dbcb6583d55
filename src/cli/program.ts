import { Command, CommanderError } from 'commander'
import { ACT_LIST } from '#src/db/acts-list.ts'
import { addAt } from './at.ts'
import { addChanges } from './changes.ts'
import { addCompletion } from './completion.ts'
import { addDemo } from './demo.ts'
import { addDoctor } from './doctor.ts'
import { addEmbedded } from './embedded.ts'
import { addExamples } from './examples.ts'
import { EXIT } from './exit.ts'
import { addFreshness } from './freshness.ts'
import { addImport } from './import.ts'
import { addImports } from './imports.ts'
import { addRules, addServers } from './inventory.ts'
import { addList } from './list-command.ts'
import { addMigrate } from './migrate.ts'
import { addNotify } from './notify.ts'
import { harmlessMessage } from './output.ts'
import { addPrune } from './prune.ts'
import { addReport } from './report.ts'
import { addRunDue } from './run-due.ts'
import { addRuns } from './runs.ts'
import { addSandbox } from './sandbox.ts'
import { addSchedules } from './schedules.ts'
import { addSnapshots } from './snapshots.ts'
import { addSync } from './sync.ts'
import { addUp } from './up.ts'
import { addVerify } from './verify.ts'
import { versionOfPackage } from './version.ts'
import { addWorker } from './worker.ts'

/*
 * The command line. Each command loads what it needs only when it runs, so that `--help` and a mistyped option answer at
 * once.
 */

/** Runs the command in `argv` and sets the exit code. */
export async function runProgram(argv: readonly string[]): Promise<void> {
  const program = await createProgram(argv)
  try {
    const [node = '', script = '', first, ...more] = argv
    // Commander's own help is of the first word only, and of one that is no command it is the help of all.
    const words = first === 'help' ? more.filter(word => !word.startsWith('-')) : []
    const isKnown = program.commands.some(one => one.name() === words[0])
    const asked = isKnown ? [...words, '--help'] : words.slice(0, 1)
    await program.parseAsync(asked.length > 0 ? [node, script, ...asked] : argv)
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    // Commander has printed what was wrong. A request for help is not an error.
    process.exitCode = error.exitCode === 0 ? EXIT.done : EXIT.usage
  }
}

/** Returns the program with all its commands, not run yet; `argv` only tells whether completion is asked for. */
export async function createProgram(argv: readonly string[]): Promise<Command> {
  const program = new Command('ferry')
    .description(
      "Syncs an incident-management platform's inventory into Postgres, with its\n" +
        'history, and imports subscribers to its status pages.',
    )
    .version(versionOfPackage())
    .showSuggestionAfterError()
    .exitOverride()
    // Commander repeats the value that it refuses, which may hold control characters.
    .configureOutput({ outputError: (text, write) => write(harmlessMessage(text)) })
    .addHelpText(
      'after',
      '\nExit codes: 0 done, 1 failed, 2 wrong usage or configuration, 3 done in part\n' +
        'or with rejects, 4 refused by the platform, 5 needs a decision, 130 interrupted.\n' +
        'Only up, worker and migrate update an older database. Commands that only read\n' +
        'change nothing.',
    )

  program.commandsGroup('Run Ferry:')
  addUp(program)
  addWorker(program)
  addRunDue(program)
  addDemo(program)
  addSandbox(program)

  program.commandsGroup('Rules and servers:')
  addSync(program)
  addRules(program)
  addServers(program)
  addChanges(program)
  addAt(program)
  addReport(program)
  addSnapshots(program)
  addRuns(program)

  program.commandsGroup('Subscribers:')
  addImport(program)
  addImports(program)

  program.commandsGroup('Keep it running:')
  addDoctor(program)
  addFreshness(program)
  addSchedules(program)
  addNotify(program)
  addList(program, 'audit', 'manual actions, by whom and why, newest first', ACT_LIST, { row: 'act' })
  addMigrate(program)
  addEmbedded(program)
  addPrune(program)
  addVerify(program)

  program.commandsGroup('Help:')
  const help = program.createCommand('help').argument('[command...]').description('display help for command')
  program.addHelpCommand(help.helpGroup('Help:'))
  await addCompletion(program, argv)
  addExamples(program)
  return program
}
