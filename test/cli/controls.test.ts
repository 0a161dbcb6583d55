import { expect, onTestFinished, test, vi } from 'vitest'
import { explain } from '#src/cli/errors.ts'
import { cellText, harmless, printJson, shownPath } from '#src/cli/output.ts'

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
