import { expect, test } from 'vitest'
import { ALERT_RULE, type AlertRule } from '#src/model/alert-rule.ts'
import { canonicalForm, fingerprint, uuidOf } from '#src/model/fingerprint.ts'
import { MCP_SERVER, type McpServer } from '#src/model/mcp-server.ts'

const canonicalAlertRule = canonicalForm(ALERT_RULE)
const canonicalMcpServer = canonicalForm(MCP_SERVER)

const RULE: AlertRule = {
  id: 1n,
  account_id: 2n,
  folder_id: 3n,
  name: 'name',
  labels: { a: '1', b: '2' },
  ds_type: 'prometheus',
  enabled: true,
  debug_log_enabled: false,
  cron_pattern: '* * * * *',
  timezone: null,
  delay_seconds: 4n,
  creator_id: 5n,
  creator_name: 'Ada',
  updater_id: 6n,
  updater_name: 'Grace',
  created_at: 7n,
  updated_at: 8n,
  triggered: false,
}

const SERVER: McpServer = {
  server_id: 's',
  account_id: 1n,
  team_id: null,
  can_edit: null,
  server_name: null,
  description: null,
  transport: null,
  url: null,
  status: null,
  connect_timeout: null,
  call_timeout: null,
  tool_count: null,
  tools: [{ name: 'tool', description: 'what it does' }],
  auth_mode: null,
  created_by: null,
  created_at: null,
  updated_at: null,
}

/** Another value of the same type. */
function another(value: unknown): unknown {
  if (typeof value === 'bigint') return value + 1n
  if (typeof value === 'boolean') return !value
  if (typeof value === 'string') return `${value}!`
  return value === null ? 'something' : null
}

test('a rule is another once any declared field is; firing is none of them', () => {
  const before = canonicalAlertRule(RULE)
  for (const [field, value] of Object.entries(RULE)) {
    const changed = canonicalAlertRule({ ...RULE, [field]: another(value) })
    expect([field, changed === before]).toEqual([field, field === 'triggered'])
  }
})

test('a server is another once any declared field is', () => {
  const before = canonicalMcpServer(SERVER)
  for (const [field, value] of Object.entries(SERVER)) {
    expect([field, canonicalMcpServer({ ...SERVER, [field]: another(value) }) === before]).toEqual([
      field,
      false,
    ])
  }
})

test('the order of labels says nothing, that of tools does; a label and its value do not change places', () => {
  expect(canonicalAlertRule({ ...RULE, labels: { b: '2', a: '1' } })).toBe(canonicalAlertRule(RULE))
  expect(canonicalAlertRule({ ...RULE, labels: { a: '2', b: '1' } })).not.toBe(canonicalAlertRule(RULE))
  expect(canonicalAlertRule({ ...RULE, labels: {} })).not.toBe(canonicalAlertRule({ ...RULE, labels: null }))
  const [one, two] = [
    { name: 'one', description: null },
    { name: 'two', description: 'says' },
  ]
  const inOrder = canonicalMcpServer({ ...SERVER, tools: [one, two] })
  expect(canonicalMcpServer({ ...SERVER, tools: [two, one] })).not.toBe(inOrder)
  expect(canonicalMcpServer({ ...SERVER, tools: [one, { ...two, description: 'is silent' }] })).not.toBe(
    inOrder,
  )
})

const uuid = (canonicalJson: string) => uuidOf(fingerprint(canonicalJson))

test('a row keeps the fingerprint it has in the databases of today, unless the version of fingerprints is another', () => {
  expect([
    ALERT_RULE.fingerprintVersion,
    uuid(canonicalAlertRule({ ...RULE, id: 2n ** 64n - 1n, delay_seconds: -4, labels: { b: 'é', a: '' } })),
  ]).toEqual([1, 'f7dc6c3f-fb12-1782-a81e-fbc78a941fa8'])
  expect([MCP_SERVER.fingerprintVersion, uuid(canonicalMcpServer(SERVER))]).toEqual([
    1,
    '61462771-929a-c8a8-0575-f56ac05a241c',
  ])
})

test('a fingerprint is a uuid of the first 128 bits of the SHA-256', () => {
  expect(uuid('')).toBe('e3b0c442-98fc-1c14-9afb-f4c8996fb924')
})
