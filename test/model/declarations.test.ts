import { expect, test } from 'vitest'
import { DECLARATIONS, EDIT_FIELDS, ID_FIELDS, NUMBER_FIELDS } from '#src/model/declarations.ts'
import { type Field, textOfValue } from '#src/model/fields.ts'
import type { Resource } from '#src/model/resource.ts'

/** What is declared of a field, but for the comment of its column, as one line. */
function lineOf(name: string, field: Field): string {
  const marks = [
    field.isOptional ? 'optional' : null,
    field.isOpenSet ? 'open set' : null,
    field.isAboutEdit ? 'about the edit' : null,
    field.isState ? 'state' : null,
  ].filter(mark => mark !== null)
  return `${[name, field.kind, ...marks].join(', ')}${field.label === undefined ? '' : `: ${field.label}`}`
}

const FIELDS: Readonly<Record<Resource, readonly string[]>> = {
  'alert-rules': [
    'id, uint64',
    'account_id, uint64',
    'folder_id, uint64: Folder',
    'name, text',
    'labels, labels, optional',
    'ds_type, text, open set: Data source',
    'enabled, flag',
    'debug_log_enabled, flag',
    'cron_pattern, text: Schedule',
    'timezone, text, optional',
    'delay_seconds, int64: Delay, as given',
    'creator_id, uint64',
    'creator_name, text: Created by',
    'updater_id, uint64, about the edit',
    'updater_name, text, about the edit: Last edited by',
    'created_at, int64',
    'updated_at, int64, about the edit',
    'triggered, flag, state',
  ],
  'mcp-servers': [
    'server_id, text id',
    'account_id, id64, optional',
    'team_id, id64, optional: Team',
    'can_edit, flag, optional: May be edited with the key',
    'server_name, text, optional',
    'description, text, optional: Description',
    'transport, text, optional, open set: Transport',
    'url, text, optional: Address',
    'status, text, optional, open set',
    'connect_timeout, int64, optional: Timeout to connect, as given',
    'call_timeout, int64, optional: Timeout of a call, as given',
    'tool_count, int64, optional',
    'tools, tools, optional',
    'auth_mode, text, optional, open set: Sign-in',
    'created_by, id64, optional: Created by (id)',
    'created_at, int64, optional',
    'updated_at, int64, optional, about the edit',
  ],
}

test.each(Object.entries(FIELDS) as [Resource, readonly string[]][])(
  'the fields of %s are declared as the contract has them, with the labels of the console',
  (resource, lines) => {
    const { fields } = DECLARATIONS[resource]
    expect(Object.entries(fields).map(([name, field]) => lineOf(name, field))).toEqual(lines)
    const openSets = Object.values<Field>(fields).filter(({ isOpenSet }) => isOpenSet)
    for (const { means } of openSets) expect(means).toMatch(/\. An open set of values\.$/)
  },
)

test('a row is told by its id, its name and its folder', () => {
  const keys = Object.values(DECLARATIONS).map(({ id, name, folder }) => [id, name, folder])
  expect(keys).toEqual([
    ['id', 'name', 'folder_id'],
    ['server_id', 'server_name', null],
  ])
})

test('ids, numbers and what is about an edit are found in both inventories', () => {
  expect([...ID_FIELDS]).toEqual([
    'id',
    'account_id',
    'folder_id',
    'creator_id',
    'updater_id',
    'team_id',
    'created_by',
  ])
  expect([...NUMBER_FIELDS]).toEqual([
    'delay_seconds',
    'created_at',
    'updated_at',
    'connect_timeout',
    'call_timeout',
    'tool_count',
  ])
  expect(EDIT_FIELDS).toEqual(['updater_id', 'updater_name', 'updated_at', 'updated_at'])
})

test('a value is its text, and an object its JSON; what is not there is nothing', () => {
  const values = [null, undefined, '', 'text', 0, false, 2n ** 64n - 1n, { a: '1' }, []]
  expect(values.map(textOfValue)).toEqual([
    null,
    null,
    '',
    'text',
    '0',
    'false',
    '18446744073709551615',
    '{"a":"1"}',
    '[]',
  ])
})
