import type { Command } from 'commander'

/** Two commands to copy for each help, by the words of the command. A test parses each, and runs those that only read. */
export const EXAMPLES: Readonly<Record<string, readonly [string, string]>> = {
  ferry: ['ferry demo', 'ferry sync all --plan'],
  'ferry up': ['ferry up', 'FERRY_HTTP_PORT=8080 ferry up --json'],
  'ferry worker': ['ferry worker', 'FERRY_CONSOLE=on ferry worker'],
  'ferry run-due': ['ferry run-due', 'ferry run-due --until-idle --json'],
  'ferry migrate': ['ferry migrate --plan', 'ferry migrate --reader-of default'],
  'ferry embedded': ['ferry embedded upgrade', 'ferry embedded upgrade --json'],
  'ferry embedded upgrade': [
    'ferry embedded upgrade',
    'ferry embedded upgrade --old-programs /usr/lib/postgresql/18/bin',
  ],
  'ferry doctor': ['ferry doctor', 'ferry doctor --json'],
  'ferry sandbox': ['ferry sandbox', 'ferry sandbox --port 4010 --rules 1000 --latency 200ms'],
  'ferry demo': ['ferry demo', 'ferry demo --json'],
  'ferry sync': ['ferry sync all', 'ferry sync alert-rules --folder 3001 --plan'],
  'ferry runs': ['ferry runs list', 'ferry runs show 1'],
  'ferry runs list': [
    'ferry runs list --status failed --since 24h',
    'ferry runs list --inventory mcp-servers --json',
  ],
  'ferry runs show': ['ferry runs show 1', 'ferry runs show 1 --json'],
  'ferry runs approve': ['ferry runs approve 1', "ferry runs approve 1 --because 'the team was dissolved'"],
  'ferry runs reject': ['ferry runs reject 1', "ferry runs reject 1 --because 'the key lost a folder'"],
  'ferry snapshots': ['ferry snapshots list', 'ferry snapshots take'],
  'ferry snapshots take': ['ferry snapshots take', "ferry snapshots take --because 'before the migration'"],
  'ferry snapshots list': ['ferry snapshots list', 'ferry snapshots list --limit 5 --json'],
  'ferry snapshots diff': ['ferry snapshots diff', 'ferry snapshots diff 1 2 --json'],
  'ferry changes': ["ferry changes --since 7d --by 'Ada Lovelace'", 'ferry changes --json'],
  'ferry at': ['ferry at 2h --around 30m', 'ferry at 2026-11-24T03:12Z --match checkout'],
  'ferry rules': ['ferry rules list --firing', 'ferry rules list --name disk --as-of 24h'],
  'ferry rules list': [
    'ferry rules list --firing --label team=payments',
    'ferry rules list --disabled --json',
  ],
  'ferry rules show': ['ferry rules show 1', 'ferry rules show 1 --as-of 24h --all'],
  'ferry servers': ['ferry servers list', 'ferry servers list --team 0'],
  'ferry servers list': ['ferry servers list --disabled', 'ferry servers list --name search --json'],
  'ferry servers show': ['ferry servers show 1', 'ferry servers show 1 --json'],
  'ferry report': ['ferry report', 'ferry report rules_noisy --since 7d --format csv'],
  'ferry freshness': ['ferry freshness', 'ferry freshness --account default --json'],
  'ferry import': [
    'ferry import people.csv --page 42 --dry-run',
    'ferry import people.csv --page 42 --from statuspage --first 5 --yes',
  ],
  'ferry imports': ['ferry imports list', 'ferry imports show 1'],
  'ferry imports list': ['ferry imports list --status paused', 'ferry imports list --since 7d --json'],
  'ferry imports show': ['ferry imports show 1', 'ferry imports show 1 --json'],
  'ferry imports recipients': ['ferry imports recipients 1', 'ferry imports recipients 1 --json'],
  'ferry imports rejects': ['ferry imports rejects 1', 'ferry imports rejects 1 --out rejects.csv'],
  'ferry imports watch': ['ferry imports watch 1', 'ferry imports watch 1 --json'],
  'ferry imports resume': ['ferry imports resume 1', 'ferry imports resume 1 --wait'],
  'ferry imports pause': ['ferry imports pause 1', "ferry imports pause 1 --because 'wrong page'"],
  'ferry imports cancel': ['ferry imports cancel 1', "ferry imports cancel 1 --yes --because 'wrong file'"],
  'ferry imports purge': ['ferry imports purge 1', 'ferry imports purge 1 --yes'],
  'ferry imports resolve': [
    'ferry imports resolve 1 --as sent',
    'ferry imports resolve 1 --as resend --batch 3',
  ],
  'ferry schedules': ['ferry schedules list', 'ferry schedules run snapshot-inventory'],
  'ferry schedules list': ['ferry schedules list', 'ferry schedules list --json'],
  'ferry schedules run': [
    'ferry schedules run snapshot-inventory',
    'ferry schedules run poll-alert-rules --account default',
  ],
  'ferry schedules pause': [
    'ferry schedules pause poll-mcp-servers',
    "ferry schedules pause poll-alert-rules --because 'maintenance of the platform'",
  ],
  'ferry schedules resume': [
    'ferry schedules resume poll-mcp-servers',
    'ferry schedules resume poll-alert-rules --account default',
  ],
  'ferry audit': ['ferry audit --since 7d', 'ferry audit --as ada --json'],
  'ferry notify': ['ferry notify test', 'ferry notify list --undelivered'],
  'ferry notify test': ['ferry notify test', 'ferry notify test --json'],
  'ferry notify list': ['ferry notify list --undelivered', 'ferry notify list --json'],
  'ferry prune': ['ferry prune --dry-run', 'ferry prune --json'],
  'ferry verify': ['ferry verify', 'ferry verify --json'],
  'ferry completion': [
    'source <(ferry completion bash)',
    'ferry completion fish > ~/.config/fish/completions/ferry.fish',
  ],
}

/** Ends the help of a command, and of those below it, with its examples. */
export function addExamples(command: Command, above: readonly string[] = []): void {
  const words = [...above, command.name()]
  const examples = EXAMPLES[words.join(' ')]
  if (examples) command.addHelpText('after', `\nExamples:\n${examples.map(line => `  ${line}`).join('\n')}`)
  for (const each of command.commands) addExamples(each, words)
}
