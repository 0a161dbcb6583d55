import { expect, test } from 'vitest'
import { differencesOf } from '#src/inventory/history/differences.ts'

const tools = (...names: readonly string[]) => names.map(name => ({ name, description: `${name}s` }))

test('tools are compared by their names, as in the console: one more changes none that follow', () => {
  const before = { status: 'on', tools: tools('find', 'merge') }
  const after = { status: 'off', tools: [{ name: 'add', description: 'adds' }, ...tools('find')] }
  expect(differencesOf(before, after)).toBe(
    'status: "on" → "off", tools.merge: "merges" → none, tools.add: none → "adds"',
  )
  expect(differencesOf({ tools: tools('find', 'merge') }, { tools: tools('merge', 'find') })).toBe(
    'tools: "find, merge" → "merge, find"',
  )
})

test('where only the editor and the time moved, the edit is outside of what the platform lists', () => {
  const [before, after] = [
    { updated_at: 1, updater_name: 'Ada' },
    { updated_at: 2, updater_name: 'Eve' },
  ]
  expect(differencesOf(before, after)).toBe('edited outside the basic view')
  expect(differencesOf({ ...before, enabled: true }, { ...after, enabled: false })).toBe(
    'enabled: true → false',
  )
  expect(differencesOf(null, null)).toBe('')
})
