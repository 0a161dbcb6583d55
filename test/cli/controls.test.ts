import { expect, onTestFinished, test, vi } from 'vitest'
import { openCommandContext } from '#src/cli/command-context.ts'
import { explain } from '#src/cli/errors.ts'
import { cellText, harmless, printJson, shownPath } from '#src/cli/output.ts'
import { file, open, PAGE } from './import-files.ts'
import { canOpenTerminal, inTerminal } from './terminal.ts'

/** What a terminal takes as a command, what begins a line, and what turns text around. */
const UNSAFE = [
  ...['\u001b[2J', '\u009b2J', '\u0007', '\b', '\r', '\u007f', '\u0085', '\0', '\u2028', '\u2029'],
  ...['\u202e', '\u202d', '\u2066', '\u2067', '\u2069', '\u200e', '\u200f', '\u061c'],
]
const RAW = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u

function printed(): string[] {
  const texts: string[] = []
  for (const stream of [process.stdout, process.stderr]) {
    const spy = vi.spyOn(stream, 'write').mockImplementation(text => {
      texts.push(`${text}`)
      return true
    })
    onTestFinished(() => spy.mockRestore())
  }
  return texts
}

test.for(UNSAFE)(
  '%j reaches no terminal: in a cell, a path, an error, its causes, its stack or JSON',
  character => {
    const text = `evil${character}text`
    const texts = printed()
    explain(Object.assign(new Error(text), { whatToDo: text }))
    const cause = new Error(text, { cause: new Error(text) })
    cause.name = text
    explain(new Error(`first\n${text}`, { cause }))
    printJson({ [text]: text })
    const json = texts.at(-1)!
    expect(JSON.parse(json)).toEqual({ [text]: text })
    for (const line of [...texts, cellText(text), shownPath(`/${text}`), harmless(text)]) {
      expect(line.replaceAll('\n', '')).not.toMatch(RAW)
    }
    expect(texts.length).toBeGreaterThan(4)
  },
)

test.for(UNSAFE)('%j is escaped in a line of the log', async character => {
  const { log } = await openCommandContext('info', new AbortController().signal)
  const texts = printed()
  log.info({ field: `evil${character}text` }, `evil${character}text`)
  const [line = ''] = texts
  expect(JSON.parse(line)).toMatchObject({ field: `evil${character}text`, msg: `evil${character}text` })
  expect(line.trimEnd()).not.toMatch(RAW)
})

test.skipIf(!canOpenTerminal)(
  'what is written as a file goes to a pipe as it is, and to a terminal without what it takes as commands',
  async () => {
    await using cli = await open()
    const evil = `A${UNSAFE.join('').replaceAll('\0', '')}z`
    cli.sandbox.state.addRule({ labels: { team: evil } })
    await cli.ferryRun('sync alert-rules')
    const report = ['report', 'rules_by_team', '--format', 'csv']
    expect((await cli.ferryRun(report.join(' '))).stdout).toContain(evil)
    const { shown } = await inTerminal(report, cli.env)
    expect(shown).toContain('z')
    expect(shown.replaceAll('\n', '')).not.toMatch(RAW)

    const lines = ['email,note', `nobody,${evil.replace('\r', '')}`, 'b@example.com,']
    await cli.ferryRun(`import ${file(lines)} ${PAGE} --all --default-locale en-US --yes`)
    const rejects = ['imports', 'rejects', '1']
    expect((await cli.ferryRun(rejects.join(' '))).stdout).toContain('\u202e')
    const rejected = await inTerminal(rejects, cli.env)
    expect(rejected.shown).toContain('nobody,A')
    expect(rejected.shown.replaceAll('\n', '')).not.toMatch(RAW)
  },
)
