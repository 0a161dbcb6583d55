import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { ARCHITECTURE_PAGE, withRooms } from '../docs/rooms.ts'

test('docs/architecture.md shows the rooms and what they import (else: npm run docs)', async () => {
  const page = await readFile(ARCHITECTURE_PAGE, 'utf8')
  expect(page).toContain('```mermaid\nflowchart')
  expect(page).toBe(await withRooms(page))
})
