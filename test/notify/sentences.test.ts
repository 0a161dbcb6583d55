import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { createProgram } from '#src/cli/program.ts'
import { EVENT_KINDS, EVENT_STATES } from '#src/model/event.ts'
import { sentenceOf } from '#src/notify/sentences.ts'
import { findReport } from '#src/reports/catalogue.ts'

const DATA = {
  inventory: 'alert-rules',
  run: '7',
  rows: 3,
  servers: 2,
  code: 'NoLicense',
  night: 'x',
  import: '4',
}

const ONE_FIELD = '1 field that its documentation does not name and Ferry does not store'
const drift = (found: string) =>
  `The platform sends, of alert-rules: ${found}. First seen in run 7; \`ferry runs show 7\` names them.`

test('every command that a message names exists, with its options', async () => {
  const program = await createProgram([])
  const commands = EVENT_KINDS.flatMap(kind =>
    EVENT_STATES.flatMap(state =>
      [...sentenceOf({ kind, state, account: 'a', data: DATA }).matchAll(/`ferry (.+?)`/g)].map(
        ([, words = '']) => words,
      ),
    ),
  )
  expect(commands.length).toBeGreaterThan(10)
  expect(commands.filter(words => !exists(program, words.split(' ')))).toEqual([])
})

function exists(command: Command, [word = '', ...more]: readonly string[]): boolean {
  const next = command.commands.find(one => one.name() === word)
  if (next) return more.length === 0 || exists(next, more)
  if (command.name() === 'report') return findReport(word) !== undefined
  if (word.startsWith('--')) return command.options.some(({ long }) => long === word)
  return command.registeredArguments.length > 0 && more.every(option => exists(command, [option]))
}

test.each([
  ['inventory.late', 'raised', {}, 'alert-rules in Postgres are late: `ferry freshness` says why.'],
  ['inventory.late', 'resolved', {}, 'The alert-rules in Postgres are no longer late.'],
  [
    'removals.held',
    'raised',
    {},
    'Run 7 holds the removal of 3 alert-rules until somebody decides. Look with `ferry runs show 7`, then run `ferry runs approve 7` or `ferry runs reject 7`.',
  ],
  [
    'removals.held',
    'resolved',
    {},
    'The removals of alert-rules that run 7 held no longer wait for a decision.',
  ],
  ['run.failing', 'raised', {}, 'the last runs of alert-rules failed: `ferry freshness` says why.'],
  ['run.failing', 'resolved', {}, 'Runs of alert-rules fail no longer.'],
  [
    'night.missed',
    'raised',
    {},
    'No nightly snapshot has been taken since it was due at x. `ferry schedules list` shows its schedule, `ferry snapshots take` takes one now.',
  ],
  [
    'night.missed',
    'raised',
    { why: 'no run' },
    'No nightly snapshot has been taken since it was due at x: `ferry freshness` says why. `ferry snapshots take` takes one now.',
  ],
  ['night.missed', 'resolved', {}, 'No nightly snapshot counts as missed any more.'],
  [
    'import.paused',
    'raised',
    {},
    'Import 4 is paused (NoLicense). `ferry imports show 4` says why and what to do.',
  ],
  [
    'import.paused',
    'raised',
    { code: null },
    'Import 4 is paused by a person. `ferry imports show 4` says why and what to do.',
  ],
  ['import.paused', 'resolved', {}, 'Import 4 is no longer paused.'],
  [
    'import.undecided',
    'raised',
    {},
    'Import 4 waits for a decision about batches whose outcome is unknown. Look with `ferry imports show 4`, then run `ferry imports resolve 4 --as sent` or `--as resend`.',
  ],
  ['import.undecided', 'resolved', {}, 'Import 4 no longer waits for a decision.'],
  ['import.completed', 'raised', {}, 'Import 4 is completed. `ferry imports show 4` shows its counts.'],
  [
    'mcp.tools.changed',
    'raised',
    {},
    'The tools of 2 MCP servers changed in run 7. `ferry report mcp_tool_changes` shows what.',
  ],
  [
    'mcp.tools.changed',
    'raised',
    { servers: 1 },
    'The tools of 1 MCP server changed in run 7. `ferry report mcp_tool_changes` shows what.',
  ],
  ['drift.found', 'raised', { fields: 1, values: 0 }, drift(ONE_FIELD)],
  ['drift.found', 'raised', { fields: 0, values: 2 }, drift('2 values that a field has never had before')],
  [
    'drift.found',
    'raised',
    { fields: 1, values: 1 },
    drift(`${ONE_FIELD}; 1 value that a field has never had before`),
  ],
  ['drift.found', 'raised', {}, drift(ONE_FIELD.replace('1 field', 'fields'))],
] as const)('%s is told in words when %s, with %j', (kind, state, data, words) => {
  const told = sentenceOf({ kind, state, account: 'a', data: { ...DATA, ...data } })
  expect(told).toBe(`Account a: ${words}`)
})
