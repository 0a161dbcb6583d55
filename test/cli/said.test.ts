import { expect, test } from 'vitest'
import { inGeneral } from '#test/support/in-general.ts'
import { fillWorkingDays } from '#test/support/working-days.ts'
import { openCli } from './open-cli.ts'

/* What commands print of some working days, kept in one file: a change of any word is seen there, and in which commands it is. */

const COMMANDS = `
runs list --status held
runs show HELD
runs show PARTIAL
snapshots list
snapshots diff
changes --by Jonas
changes --since 1h
changes --rule RULE
at NOW
at NOW --around 15m --json
rules list --limit 5
rules list --folder 3001 --firing
rules list --name nothing
rules show RULE
rules show RULE --all
servers list --limit 5
servers show SERVER
report
report rules_by_team
report rules_unowned
report runs_health
freshness
schedules list
notify list --limit 2
notify test
imports list
imports show PAUSED
imports show UNDECIDED
imports watch PAUSED
imports recipients PAUSED
imports rejects REJECTED
imports resolve UNDECIDED --as sent --by ada
imports resume PAUSED --as ada
imports cancel PAUSED
imports purge PAUSED
audit
prune --dry-run
sync alert-rules --plan
sync all
`
  .trim()
  .split('\n')

/** Of lines that are alike in general, one after another, the first; of a long text its beginning. */
const shown = (text: string) =>
  inGeneral(text.replaceAll(/ {2,}/g, '  '))
    .split('\n')
    .map(line => line.trimEnd().slice(0, 300))
    .filter((line, n, all) => line !== all[n - 1])
    .slice(0, 25)
    .join('\n')

test('what each command prints of some working days', async () => {
  await using cli = await openCli({ rules: 60, servers: 12 })
  await fillWorkingDays(cli)
  const idOf = async (sql: string) => `${Object.values((await cli.query(sql))[0] ?? {})[0]}`
  const words: Readonly<Record<string, string>> = {
    HELD: await idOf(`select id from ferry.sync_runs where status = 'held' order by id limit 1`),
    PARTIAL: await idOf(`select id from ferry.sync_runs where status = 'failed' order by id limit 1`),
    RULE: await idOf(
      'select id from ferry.alert_rule_versions group by id order by count(*) desc, id limit 1',
    ),
    SERVER: await idOf(
      'select server_id from ferry.mcp_server_versions group by 1 order by count(*) desc, 1 limit 1',
    ),
    PAUSED: await idOf(`select id from ferry.imports where status = 'paused' order by id limit 1`),
    UNDECIDED: await idOf(`select id from ferry.imports where status = 'undecided' order by id limit 1`),
    REJECTED: await idOf('select import_id from ferry.import_rejects order by 1 limit 1'),
    NOW: new Date().toISOString(),
  }
  const said: string[] = []
  for (const command of COMMANDS) {
    const { code, stdout, stderr } = await cli.ferryRun(
      command.replaceAll(/\b[A-Z]{3,}\b/g, word => words[word] ?? word),
    )
    said.push(`$ ferry ${command}\n${shown(stdout)}\n${shown(stderr)}\nexit ${code}\n`)
  }
  await expect(said.join('\n')).toMatchFileSnapshot('said.txt')
})
