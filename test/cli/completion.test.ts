import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { runFerry } from './run-ferry.ts'

/** What is offered for the last of these words. */
async function offeredFor(...words: string[]): Promise<string[]> {
  const { code, stdout, stderr } = await runFerry(['complete', '--', ...words])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  // The last line tells the shell what else to do.
  const lines = stdout.trimEnd().split('\n').slice(0, -1)
  return lines.map(line => line.split('\t')[0] ?? '')
}

test('the Tab key completes commands, their options and choices', async () => {
  expect(await offeredFor('im')).toEqual(['import', 'imports'])
  expect(await offeredFor('imports', 're')).toEqual(['recipients', 'rejects', 'resume', 'resolve'])
  expect(await offeredFor('import', 'people.csv', '--pa')).toEqual(['--page'])
  expect(await offeredFor('runs', 'list', '--')).toEqual(expect.arrayContaining(['--status', '--json']))
  expect(await offeredFor('sync', '')).toEqual(['alert-rules', 'mcp-servers', 'all'])
  expect(await offeredFor('import', '--from', 'stat')).toEqual(['statuspage'])
  expect(await offeredFor('comp')).toEqual(['completion'])
})

test('the Tab key completes files where a command takes one', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'ferry-completion-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  for (const name of ['people.csv', 'pêople.csv', 'peo ple.csv', 'peo;ple.csv', 'other.csv']) {
    writeFileSync(join(directory, name), '')
  }
  mkdirSync(join(directory, 'peoples'))
  const there = (...names: string[]) => names.map(name => join(directory, name))
  for (const words of [['import'], ['import', '--components'], ['import', 'f.csv', '--suppress']]) {
    const offered = await offeredFor(...words, join(directory, 'peo'))
    expect(offered.sort()).toEqual([...there('people.csv'), `${directory}/peoples/`])
  }
  expect(await offeredFor('import', join(directory, 'nowhere/peo'))).toEqual([])
})

test.for(['bash', 'zsh', 'fish'])('`ferry completion %s` prints a script', async shell => {
  const { code, stdout, stderr } = await runFerry(['completion', shell])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toContain(`${shell} completion for ferry`)
  expect(stdout).toContain('ferry complete -- ')
  const { error, status } = spawnSync(shell, ['-n'], { input: stdout, encoding: 'utf8' })
  // Not every machine has every shell.
  if (!error) expect(status).toBe(0)
})

test('a shell that is none of them is a wrong usage', async () => {
  expect(await runFerry(['completion', 'tcsh'])).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('Allowed choices are zsh, bash, fish, powershell.'),
  })
})
