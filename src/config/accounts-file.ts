import { z } from 'zod'
import { isRecord, mistakesIn, readJsonFile } from './json-file.ts'
import { BaseUrl, FolderList, LimitWindows, PageLimit } from './values.ts'

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
  const form = '{ "accounts": [{ "name": …, "baseUrl": … }] }'
  const content = readJsonFile(path, 'FERRY_ACCOUNTS_FILE', form, mistakes)
  if (content === undefined) return []
  mistakes.push(...mistakesIn(content, 'FERRY_ACCOUNTS_FILE', AccountsFile, KEYS))
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
