import { expect, test } from 'vitest'
import { differencesOf } from '#src/cli/changes.ts'

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
