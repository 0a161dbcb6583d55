import { expect, test } from 'vitest'
import { differencesList, openRoom } from '#src/http/console/parts/differences.ts'
import { textOf } from './cells.ts'

type Tool = readonly [name: string, description: string]

const fieldsOf = (tools: readonly Tool[]) =>
  JSON.stringify({ tools: tools.map(([name, description]) => ({ name, description })) })

/** What the list shows of a change of tools. */
function shown(before: readonly Tool[], after: readonly Tool[]): string {
  const change = { resource: 'mcp-servers', before: fieldsOf(before), after: fieldsOf(after) } as const
  return textOf(`${differencesList(change, 8, openRoom())}`)
}

test('a second tool of a name is told from a tool that is called like it, whichever side has that', () => {
  const twice: Tool[] = [
    ['a', 'reads'],
    ['a', 'writes'],
  ]
  const called: Tool = ['a (2)', 'deletes']
  expect(shown(twice, [...twice, called])).toBe('tools.a (2)none → deletes')
  expect(shown([called, ...twice], twice)).toBe('tools.a (2)deletes → none')
  expect(shown([called, ...twice], [called, twice[0]!])).toBe('tools.a (3)writes → none')
  expect(shown(twice, [twice[0]!])).toBe('tools.a (2)writes → none')
})

test('an edit of what the platform does not list says so; an addition has nothing to compare', () => {
  const edited = { resource: 'alert-rules', before: '{"updated_at":1}', after: '{"updated_at":2}' } as const
  expect(textOf(`${differencesList(edited, 8, openRoom())}`)).toBe('edited outside the basic view')
  expect(differencesList({ ...edited, before: null }, 8, openRoom())).toBeNull()
})
