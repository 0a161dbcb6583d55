import { readFileSync } from 'node:fs'
import { closest } from 'fastest-levenshtein'
import { z } from 'zod'
import { BaseUrl, FolderList, LimitWindows, PageLimit, quoted } from './values.ts'

const FIELDS = {
  name: z
    .string()
    .regex(
      /^[a-z0-9_-]{1,63}$/,
      'is not a name; write lower-case letters, digits, - and _, such as production-eu',
    ),
  baseUrl: BaseUrl,
  appKeyEnv: z.string().min(1).optional(),
  appKeyFile: z.string().min(1).optional(),
  limitGroup: z.string().min(1).optional(),
  folders: FolderList.optional(),
  pageLimit: PageLimit.optional(),
  includeAccount: z.boolean().optional(),
  importLimit: LimitWindows.optional(),
  listLimit: LimitWindows.optional(),
}

/** One account of `FERRY_ACCOUNTS_FILE`. It refers to its key and never contains it. */
const AccountEntry = z
  .strictObject(FIELDS)
  .refine(entry => (entry.appKeyEnv === undefined) !== (entry.appKeyFile === undefined), {
    message:
      'needs either appKeyEnv (the name of an environment variable with the app_key) or appKeyFile, not both',
    // By default, another mistake of the account would hide this one.
    when: ({ value }) => isRecord(value),
  })
export type AccountEntry = z.output<typeof AccountEntry>

const PartOfEntry = z.object(FIELDS).partial()

const AccountsFile = z.strictObject({
  accounts: z.array(AccountEntry).min(1, 'is empty; write [{ "name": …, "baseUrl": … }]'),
})

/** One account as far as it could be read. With mistakes, `entry` has the right fields only, to check those further. */
export type ReadEntry = { readonly place: string } & (
  | { readonly whole: true; readonly entry: AccountEntry }
  | { readonly whole: false; readonly entry: z.output<typeof PartOfEntry> }
)

/** Every key that the file may have, for "did you mean". */
const KEYS = ['accounts', ...Object.keys(FIELDS)]

/** Returns the entries of the accounts file at `path`. Adds its mistakes to `mistakes`. */
export function readAccountsFile(path: string, mistakes: string[]): readonly ReadEntry[] {
  const written = readText(path, 'FERRY_ACCOUNTS_FILE', mistakes)
  if (written === null) return []
  const text = written.replace(/^\ufeff/, '')
  const content = parseJson(text)
  if (content === undefined) {
    mistakes.push(
      `FERRY_ACCOUNTS_FILE: ${path} is not JSON${placeOfFault(text)}; ` +
        'write { "accounts": [{ "name": …, "baseUrl": … }] }',
    )
    return []
  }
  const { error } = AccountsFile.safeParse(content, { error: plainWords })
  mistakes.push(...(error?.issues ?? []).map(issue => `FERRY_ACCOUNTS_FILE: ${wordsOf(issue)}`))
  const accounts = isRecord(content) && Array.isArray(content.accounts) ? content.accounts : []
  const entries = accounts.map(readEntry)
  const names = entries.flatMap(({ entry }) => entry.name ?? [])
  for (const name of new Set(names.filter((name, index) => names.indexOf(name) !== index))) {
    mistakes.push(
      `FERRY_ACCOUNTS_FILE: accounts has two entries with the name ${name}; give each its own name`,
    )
  }
  return entries
}

function readEntry(account: unknown, index: number): ReadEntry {
  const place = `accounts[${index}]`
  const { data, error } = AccountEntry.safeParse(account)
  if (data) return { place, whole: true, entry: data }
  const wrong = new Set(error.issues.map(issue => issue.path[0]))
  const right = Object.entries(isRecord(account) ? account : {}).filter(([key]) => !wrong.has(key))
  return { place, whole: false, entry: PartOfEntry.parse(Object.fromEntries(right)) }
}

/** Returns the content of a file that a setting names, or null after adding to `mistakes` why it cannot be read. */
export function readText(path: string, setting: string, mistakes: string[]): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const why = error instanceof Error && 'code' in error ? error.code : error
    mistakes.push(`${setting}: ${path} cannot be read (${why}); name a file that this user may read`)
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

function wordsOf(issue: z.core.$ZodIssue): string {
  const where = z.core.toDotPath(issue.path)
  if (issue.code !== 'unrecognized_keys') return `${where} ${issue.message}`.trim()
  const unknown = issue.keys.map(
    key => `has the unknown key ${quoted(key)}; did you mean ${quoted(closest(key, KEYS))}?`,
  )
  return `${where} ${unknown.join(' ')}`.trim()
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
