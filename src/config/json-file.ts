import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { isNot } from '../model/did-you-mean.ts'
import { quoted } from './values.ts'

/*
 * JSON files that a setting names. Every mistake is named at once, with its path in the file; what a file holds is repeated only
 * where that cannot be a secret.
 */

/** Returns what the file holds. Undefined, after a mistake, if it cannot be read or is not JSON. `form` is how it is written. */
export function readJsonFile(path: string, setting: string, form: string, mistakes: string[]): unknown {
  const text = readText(path, setting, mistakes)?.replace(/^\ufeff/, '')
  if (text === undefined) return undefined
  const content = parseJson(text)
  if (content === undefined)
    mistakes.push(`${setting}: ${path} is not JSON${placeOfFault(text)}; write ${form}`)
  return content
}

/** Returns the mistakes of a file in words. `keys` are all that it may have, for "did you mean". */
export function mistakesIn(
  content: unknown,
  setting: string,
  shape: z.ZodType,
  keys: readonly string[],
): string[] {
  const { error } = shape.safeParse(content, { error: plainWords })
  return (error?.issues ?? []).map(issue => `${setting}: ${wordsOf(issue, keys)}`)
}

/** Returns the content of a file that a setting names, or null after adding to `mistakes` why it cannot be read; `shown` is its name there. */
export function readText(path: string, setting: string, mistakes: string[], shown = path): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const why = error instanceof Error && 'code' in error ? error.code : error
    mistakes.push(`${setting}: ${shown} cannot be read (${why}); name a file that this user may read`)
    return null
  }
}

/** Discards the error of `JSON.parse`: it quotes the text, which may be a key. `placeOfFault` says where it is wrong. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Returns the place at which the text stops being the start of any JSON. `JSON.parse` does not report it for every fault. */
function placeOfFault(text: string): string {
  let sound = 0
  let faulty = text.length
  while (faulty - sound > 1) {
    const middle = Math.floor((sound + faulty) / 2)
    if (isStartOfJson(text.slice(0, middle))) sound = middle
    else faulty = middle
  }
  const before = text.slice(0, isStartOfJson(text) ? text.length : sound).split('\n')
  return ` (line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1})`
}

/** Whether the text is the start of some JSON: the only fault is that it ends. */
function isStartOfJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch (error) {
    const message = error instanceof Error ? error.message : ''
    const [, position] = /at position (\d+)/.exec(message) ?? []
    return /^(Unexpected end|Unterminated)/.test(message) || Number(position) >= text.length
  }
}

/** The words for mistakes that have none of their own: what is wrong, and what would be right. */
const plainWords: z.core.$ZodErrorMap = issue => {
  if (issue.code === 'too_small') return 'is empty; write it, or leave it out'
  if (issue.code !== 'invalid_type') return undefined
  if (issue.input === undefined) return 'is missing'
  if (issue.expected === 'boolean') return 'is neither true nor false'
  if (issue.expected === 'array') return 'is not a list; write it in [ ]'
  return issue.expected === 'object' ? 'is not an object; write it in { }' : 'is not text; write it in quotes'
}

function wordsOf(issue: z.core.$ZodIssue, keys: readonly string[]): string {
  const where = z.core.toDotPath(issue.path)
  if (issue.code !== 'unrecognized_keys') return `${where} ${issue.message}`.trim()
  const unknown = issue.keys.map(key => `has ${quoted(key)}, which ${isNot('a known key', key, keys)}`)
  return `${where} ${unknown.join(' ')}`.trim()
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
