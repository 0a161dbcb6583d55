import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { STATUSES_SOURCE, withMoves, withMovesInComment } from '../docs/moves.ts'
import { ARCHITECTURE_PAGE, withRooms } from '../docs/rooms.ts'

test('docs/architecture.md shows the rooms and what they import (else: npm run docs)', async () => {
  const page = await readFile(ARCHITECTURE_PAGE, 'utf8')
  expect(page).toContain('```mermaid\nflowchart')
  expect(page).toBe(await withRooms(page))
})

test('docs/architecture.md and the comment of the statuses show every move of an import (else: npm run docs)', async () => {
  const page = await readFile(ARCHITECTURE_PAGE, 'utf8')
  expect(page).toContain('    running --> undecided: exhaust if uncertain rows are left\n')
  expect(page).toBe(withMoves(page))
  const source = await readFile(STATUSES_SOURCE, 'utf8')
  expect(source).toContain(' *     staging   ──► completed  confirm if nothing is left\n')
  expect(source).toBe(withMovesInComment(source))
})
