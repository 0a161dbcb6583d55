import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { waitFor } from '#test/support/wait-for.ts'
import { openCli } from './open-cli.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const BIN = join(ROOT, 'bin/ferry')

/** Starts a command file from another directory. */
function start(file: string, args: readonly string[], env: Record<string, string> = {}) {
  const child = spawn(file, args, { cwd: tmpdir(), env: { PATH: process.env.PATH, ...env }, stdio: 'pipe' })
  const output = { stdout: '', stderr: '' }
  child.stdout.on('data', text => {
    output.stdout += text
  })
  child.stderr.on('data', text => {
    output.stderr += text
  })
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal, ...output }))
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  return { child, output, ended }
}

function temporary(): string {
  const directory = mkdtempSync(join(tmpdir(), 'ferry-bin-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  return directory
}

describe('bin/ferry', () => {
  test('runs from any directory, through links as npm makes them', async () => {
    const prefix = temporary()
    mkdirSync(join(prefix, 'bin'))
    mkdirSync(join(prefix, 'lib with a space/node_modules'), { recursive: true })
    symlinkSync(ROOT, join(prefix, 'lib with a space/node_modules/ferry'))
    symlinkSync('../lib with a space/node_modules/ferry/bin/ferry', join(prefix, 'bin/ferry'))
    symlinkSync(join(prefix, 'bin/ferry'), join(prefix, 'again'))
    for (const file of [BIN, join(prefix, 'bin/ferry'), join(prefix, 'again')]) {
      expect(await start(file, ['--version']).ended).toEqual({
        code: 0,
        signal: null,
        stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
        stderr: '',
      })
    }
  })

  test('passes on arguments as they are, and the exit code', async () => {
    const { code, stderr } = await start(BIN, ['runs', 'show', 'two words *']).ended
    expect(code).toBe(2)
    expect(stderr).toContain("'two words *'")
  })

  test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    'is the worker itself, so that %s reaches it',
    async signal => {
      await using cli = await openCli()
      const worker = start(BIN, ['worker', '--json'], { ...cli.env })
      await waitFor(() => worker.output.stdout.includes('\n'), { what: 'the worker' })
      expect(JSON.parse(worker.output.stdout)).toMatchObject({ pid: worker.child.pid })
      worker.child.kill(signal)
      expect(await worker.ended).toMatchObject({ code: 0, signal: null })
    },
  )

  test('takes the Node of the machine where Ferry has none along, unless it is too old', async () => {
    const root = temporary()
    for (const path of ['bin/ferry', 'package.json']) cpSync(join(ROOT, path), join(root, path))
    mkdirSync(join(root, 'src/cli'), { recursive: true })
    writeFileSync(join(root, 'src/cli/ferry.ts'), 'console.log(process.version satisfies string)')
    const path = (directory: string) => ({ PATH: `${directory}:/usr/bin:/bin` })

    const bare = await start(join(root, 'bin/ferry'), []).ended
    expect(bare).toMatchObject({ code: 1, stderr: expect.stringContaining(`Run \`npm ci\` in ${root}`) })

    mkdirSync(join(root, 'node_modules'))
    const found = await start(join(root, 'bin/ferry'), [], path(dirname(process.execPath))).ended
    expect(found).toMatchObject({ code: 0, stdout: `${process.version}\n` })

    // As an old Node answers: it knows its own version, and nothing of TypeScript.
    const old = temporary()
    const script = `#!/bin/sh\n[ "$1" = -e ] && exit 1\necho v20.1.0\n`
    writeFileSync(join(old, 'node'), script, { mode: 0o755 })
    const refused = await start(join(root, 'bin/ferry'), [], path(old)).ended
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('v20.1.0, which is too old') })
  })
})

test('SIGUSR1 opens no debugger, however Ferry is started', async () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const ways = [
    scripts.start,
    scripts.demo,
    scripts.ferry,
    ...readFileSync(BIN, 'utf8').match(/^.*exec "\$node".*$/gm)!,
  ]
  expect(ways).toHaveLength(5)
  for (const way of ways) expect(way).toMatch(/node"? --disable-sigusr1 /)
  const { child, output, ended } = start(BIN, ['sandbox', '--port', '0'])
  await waitFor(() => output.stdout.includes('http'), { what: 'the sandbox to listen' })
  child.kill('SIGUSR1')
  child.kill('SIGTERM')
  await ended
  expect(output.stderr).not.toMatch(/debugger|inspector|ws:/i)
})
