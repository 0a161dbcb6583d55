import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { EXIT } from '#src/cli/exit.ts'
import { pathOf } from '#test/docs/pages.ts'
import { hasProgram, readIntegration, unknownSettings } from './files.ts'

/* The unit, as systemd's own tool reads it. No service is started. */

const UNIT = readIntegration('systemd/ferry-worker.service')
const hasSystemd = hasProgram('systemd-analyze', '--version')

test.skipIf(!hasSystemd)('systemd finds nothing to complain about in the unit', () => {
  expect(analyze(UNIT, 'verify')).toEqual({ code: 0, said: '' })
  expect(analyze(UNIT.replace('KillMode', 'KilMode'), 'verify').said).toMatch(/Unknown key.* 'KilMode'/)
})

test.skipIf(!hasSystemd)('systemd calls the unit safe: an exposure under 2 of 10', () => {
  const { said } = analyze(UNIT, 'security', '--offline=true', '--threshold=20')
  const [, exposure] = /exposure level .*: ([\d.]+)/.exec(said) ?? []
  expect(Number(exposure)).toBeLessThan(2)
})

test('the worker gets SIGTERM, has time to drain, and is not started again with a wrong setting', () => {
  expect(valueIn('ExecStart')).toBe('/opt/ferry/bin/ferry worker')
  expect(valueIn('KillSignal')).toBe('SIGTERM')
  expect(Number(valueIn('TimeoutStopSec'))).toBeGreaterThan(30)
  expect(valueIn('Restart')).toBe('always')
  expect(valueIn('RestartPreventExitStatus')).toBe(`${EXIT.usage}`)
})

test('the worker is an ordinary user who may write to its own directories only', () => {
  expect(UNIT).toMatch(/^DynamicUser=yes$/m)
  expect(UNIT).toMatch(/^NoNewPrivileges=yes$/m)
  expect(UNIT).toMatch(/^ProtectSystem=strict$/m)
  expect(UNIT).toMatch(/^CapabilityBoundingSet=$/m)
})

test('Ferry knows every setting of the unit and of its example, and secrets are files', () => {
  const inUnit = [...UNIT.matchAll(/^Environment=(\w+)=(.*)$/gm)].map(([, name = '', value = '']) => ({
    name,
    value,
  }))
  const inExample = [...readIntegration('systemd/ferry.env.example').matchAll(/^(\w+)=/gm)].map(
    ([, name = '']) => name,
  )
  const names = [...inUnit.map(({ name }) => name), ...inExample]
  expect(unknownSettings(names)).toEqual(['NODE_COMPILE_CACHE'])
  const secrets = inUnit.filter(({ name }) => /KEY|PASSWORD/.test(name))
  const credentials = [...UNIT.matchAll(/^LoadCredential=(\w+):/gm)].map(([, name]) => `%d/${name}`)
  expect(secrets.map(({ value }) => value).sort()).toEqual(credentials.sort())
  expect(inExample.filter(name => /KEY|PASSWORD/.test(name))).toEqual([])
})

function valueIn(key: string): string | undefined {
  return new RegExp(`^${key}=(.*)$`, 'm').exec(UNIT)?.[1]
}

/** What the tool says about a unit whose program is where Ferry is on this machine. */
function analyze(unit: string, verb: string, ...options: string[]): { code: number | null; said: string } {
  const directory = mkdtempSync(join(tmpdir(), 'ferry-test-unit-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const file = join(directory, 'ferry-worker.service')
  writeFileSync(file, unit.replace('/opt/ferry/bin/ferry', pathOf('bin/ferry')))
  const { status, stdout, stderr } = spawnSync('systemd-analyze', [verb, ...options, file], {
    encoding: 'utf8',
  })
  return { code: status, said: stdout + stderr }
}
