import { readFileSync } from 'node:fs'
import { closest } from 'fastest-levenshtein'
import { z } from 'zod'
import { BaseUrl, FolderList, Limit, PageLimit, quoted } from './values.ts'

/** One account as `FERRY_ACCOUNTS_FILE` describes it: its key is referred to, never written there. */
const AccountEntry = z
  .strictObject({
    name: z
      .string()
      .regex(
        /^[a-z0-9_-]{1,63}$/,
        'is not a name; write small letters, digits, - and _, such as production-eu',
      ),
    baseUrl: BaseUrl,
    appKeyEnv: z.string().min(1).optional(),
    appKeyFile: z.string().min(1).optional(),
    limitGroup: z.string().min(1).optional(),
    folders: FolderList.optional(),
    pageLimit: PageLimit.optional(),
    includeAccount: z.boolean().optional(),
    importLimit: Limit.optional(),
    listLimit: Limit.optional(),
  })
  .refine(entry => (entry.appKeyEnv === undefined) !== (entry.appKeyFile === undefined), {
    message:
      'needs the app_key by appKeyEnv (the name of an environment variable) or by appKeyFile, one of them',
  })
export type AccountEntry = z.output<typeof AccountEntry>

const AccountsFile = z.strictObject({
  accounts: z
    .array(AccountEntry)
    .min(1)
    .refine(entries => new Set(entries.map(entry => entry.name)).size === entries.length, {
      message: 'has two entries of the same name; give each its own',
    }),
})

/** Every key the file may hold, for "did you mean". */
const KEYS = ['accounts', ...Object.keys(AccountEntry.shape)]

/** Returns the entries of the accounts file at `path`; adds what is wrong with it to `mistakes`. */
export function readAccountsFile(path: string, mistakes: string[]): readonly AccountEntry[] {
  const text = readText(path, 'FERRY_ACCOUNTS_FILE', mistakes)
  if (text === null) return []
  const content = parseJson(text)
  if (content === undefined) {
    mistakes.push(
      `FERRY_ACCOUNTS_FILE: ${path} is not JSON; write { "accounts": [{ "name": …, "baseUrl": … }] }`,
    )
    return []
  }
  const parsed = AccountsFile.safeParse(content)
  mistakes.push(...(parsed.error?.issues ?? []).map(issue => `FERRY_ACCOUNTS_FILE: ${wordsOf(issue)}`))
  return parsed.data?.accounts ?? []
}

/** The content of a file that a setting names, or null after saying why it cannot be read. */
export function readText(path: string, setting: string, mistakes: string[]): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const why = error instanceof Error && 'code' in error ? error.code : error
    mistakes.push(`${setting}: ${path} cannot be read (${why}); name a file that this user may read`)
    return null
  }
}

/** `JSON.parse` quotes what it cannot read in its error, and that may be a key: only whether it can is told. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function wordsOf(issue: z.core.$ZodIssue): string {
  const where = z.core.toDotPath(issue.path)
  if (issue.code !== 'unrecognized_keys') return `${where} ${issue.message}`
  const unknown = issue.keys.map(
    key => `there is no ${quoted(key)}; did you mean ${quoted(closest(key, KEYS))}?`,
  )
  return `${where} ${unknown.join(' ')}`.trim()
}
