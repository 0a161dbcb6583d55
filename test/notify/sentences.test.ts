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
