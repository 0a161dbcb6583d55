import { type Command, Option } from 'commander'
import type { Config } from '#src/config.ts'
import type { ImportOptions, PresetName } from '#src/imports/stage.ts'
import type { OnUncertain } from '#src/model/import.ts'
import { countFrom, mapArgument, mapLocaleArgument, pageArgument } from '../arguments.ts'
import { UsageError } from '../errors.ts'
import { accountsOf } from '../session.ts'

/** What may be written after `ferry import FILE`. */
export type Options = {
  page: bigint
  account?: string
  method: string
  map?: Readonly<Record<string, string>>
  lenientAddresses?: true
  defaultLocale?: string
  mapLocale?: Readonly<Record<string, string>>
  all?: true
  from?: PresetName
  components?: string
  suppress?: string
  batch?: number
  first?: number
  onUncertain: OnUncertain
  update?: true
  dryRun?: true
  yes?: true
  wait?: true
  json?: true
}

/** More in one call no platform takes; Ferry would only learn it from a 413. */
const MOST_ROWS = 100_000

const MOST_FIRST = 999_999_999

export function addOptions(command: Command): Command {
  return command
    .requiredOption('--page <id>', 'the status page that gets the subscribers', pageArgument)
    .option('--account <name>', 'the account that owns the page (needed if there are several)')
    .option('--method <name>', 'the channel', 'email')
    .option(
      '--map <field=column>',
      'which column holds recipient, all, component_ids or locale, or with --from a field of that product, such as confirmed; repeatable',
      mapArgument,
    )
    .option(
      '--lenient-addresses',
      'accept addresses that break a rule as some real mailboxes do: john..doe@docomo.ne.jp',
    )
    .option('--default-locale <tag>', 'for rows that have none: en-US')
    .option(
      '--map-locale <said=tag>',
      'which locale is meant by what the file has: de=de-DE; repeatable',
      mapLocaleArgument,
    )
    .option('--all', 'rows that name no components get all of them')
    .addOption(
      new Option('--from <product>', 'the file is the export of this product').choices([
        'statuspage',
        'instatus',
        'betterstack',
        'cachet',
        'platform',
      ] satisfies PresetName[]),
    )
    .option('--components <file>', 'a CSV of old component ids and new ones')
    .option('--suppress <file>', 'a list of recipients who must not be subscribed')
    .option('--batch <n>', 'rows in one call (default: FERRY_IMPORT_BATCH)', countFrom(1, MOST_ROWS))
    .option('--first <n>', 'send so many rows, then pause', countFrom(1, MOST_FIRST))
    .addOption(
      new Option('--on-uncertain <what>', 'what to do with a call of which nobody knows whether it arrived')
        .choices(['resend', 'hold'] satisfies OnUncertain[])
        .default('resend'),
    )
    .option('--update', 'send again those whom an earlier import sent with other settings')
    .option(
      '--dry-run',
      'read and check the file, store nothing of it, call nothing, whatever else is said; only the tables are made where there are none',
    )
    .option('--yes', 'do not ask')
    .option('--wait', 'do the work in this process, to its end')
    .option('--json', 'print JSON objects; the last one is the summary')
}

/** What is to be staged. Throws `UsageError` if it is not clear for which account. */
export function importOptions(options: Options, config: Config): ImportOptions {
  const [account, ...others] = accountsOf(config, options.account)
  if (!account || others.length > 0) {
    const names = config.accounts.map(account => account.name).join(', ')
    throw new UsageError(`there are several accounts; say with --account which owns the page: ${names}`)
  }
  return {
    account: account.name,
    pageId: options.page,
    method: options.method,
    map: options.map ?? {},
    lenientAddresses: options.lenientAddresses ?? false,
    defaultLocale: options.defaultLocale ?? null,
    mapLocale: options.mapLocale ?? {},
    all: options.all ?? false,
    from: options.from ?? null,
    components: options.components ?? null,
    suppress: options.suppress ?? null,
    batchRows: options.batch ?? config.importBatch,
    firstRows: options.first ?? null,
    onUncertain: options.onUncertain,
    update: options.update ?? false,
  }
}
