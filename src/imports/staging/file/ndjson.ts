import { parseLossless } from '#src/platform/lossless-json.ts'
import { DAMAGE_IN_WORDS, type Reader, type Sink } from './reader.ts'

/** Reads one JSON object a line. `valuesOf` returns the fields asked for from it. */
export function openNdjsonReader(
  valuesOf: (row: Readonly<Record<string, unknown>>) => readonly unknown[],
  sink: Sink,
): Reader {
  let line = 0
  return block => {
    const { text, damaged } = block
    const firstLine = line
    for (let at = 0; at < text.length; ) {
      const newline = text.indexOf('\n', at)
      const end = newline === -1 ? text.length : newline
      const raw = text.slice(at, text.charCodeAt(end - 1) === CR ? end - 1 : end)
      at = end + 1
      line++
      const damage = damaged.get(line - 1 - firstLine)
      if (damage) sink.damaged(line, damage, DAMAGE_IN_WORDS[damage], raw)
      else if (raw.trim() !== '') takeLine(line, raw)
    }
  }

  function takeLine(at: number, raw: string): void {
    const row = objectIn(raw)
    if (row) sink.row(at, valuesOf(row), raw)
    else sink.damaged(at, 'not JSON', 'the line is not one JSON object', raw)
  }
}

const CR = 13

function objectIn(raw: string): Record<string, unknown> | null {
  try {
    const value = parseLossless(raw)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null
  } catch {
    return null
  }
}
