import { type Command, Option } from 'commander'
import type { Config } from '#src/config.ts'
import type { ImportOptions } from '#src/imports/staging/options.ts'
import { fieldsOfProduct, PRESET_NAMES, type PresetName } from '#src/imports/staging/presets/presets.ts'
import { ON_UNCERTAIN, type OnUncertain } from '#src/model/import.ts'
import { MAX_BATCH_ROWS } from '#src/model/settings.ts'
import { accountsOf } from '../accounts.ts'
import { type ActOptions, addActOptions } from '../acted-by.ts'
import {
  countFrom,
  mapArgument,
  mapLocaleArgument,
  methodArgument,
  pageArgument,
  pathArgument,
} from '../arguments.ts'
import { UsageError } from '../errors.ts'
import { wrapped } from '../wrap.ts'

/** What may be written after `ferry import FILE`. */
export type Options = ActOptions & {
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

const MAX_FIRST_ROWS = 999_999_999

export function addOptions(command: Command): Command {
  return addActOptions(
    command
      .requiredOption('--page <id>', 'the status page that gets the subscribers', pageArgument)
      .option('--account <name>', 'the account that owns the page (needed if there are several)')
      .option('--method <name>', 'the channel', methodArgument, 'email')
      .option(
        '--map <field=column>',
        'the column that holds recipient, all, component_ids or locale, or with --from a field of that product, such as confirmed; repeatable',
        mapArgument,
      )
      .option(
        '--lenient-addresses',
        'accept addresses that break a rule of e-mail the way some real mailboxes do: john..doe@docomo.ne.jp',
      )
      .option('--default-locale <tag>', 'the locale of rows that have none, such as en-US')
      .option(
        '--map-locale <value=tag>',
        'the locale that a value in the file means: de=de-DE; repeatable',
        mapLocaleArgument,
      )
      .option('--all', 'rows that name no components get all components')
      .addOption(
        new Option('--from <product>', 'the file is the export of this product').choices(PRESET_NAMES),
      )
      .option('--components <file>', 'a CSV of old component ids and new ones', pathArgument)
      .option('--suppress <file>', 'a file of recipients who must not be subscribed', pathArgument)
      .option('--batch <n>', 'rows in one call (default: FERRY_IMPORT_BATCH)', countFrom(1, MAX_BATCH_ROWS))
      .option('--first <n>', 'send this many rows, then pause', countFrom(1, MAX_FIRST_ROWS))
      .addOption(
        new Option('--on-uncertain <what>', 'what to do with a call whose outcome is unknown')
          .choices(ON_UNCERTAIN)
          .default('resend'),
      )
      .option('--update', 'send recipients again that an earlier import sent with other settings')
      .option(
        '--dry-run',
        'read and check the file, but store no rows and call nothing, whatever the other options; creates missing tables',
      )
      .option('--yes', 'do not ask')
      .option('--wait', 'process the import in this process until it ends'),
  ).option('--json', 'print JSON objects; the last one is the summary')
}

/** Returns how the file is to be staged. Throws `UsageError` if it is not clear for which account. */
export function importOptions(options: Options, config: Config): ImportOptions {
  const [account, ...others] = accountsOf(config, options.account)
  if (!account || others.length > 0) {
    const names = config.accounts.map(account => account.name).join(', ')
    throw new UsageError(
      `there are several accounts; name the one that owns the page with --account: ${names}`,
    )
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

const WIDTH = 78
const INDENT = ' '.repeat(14)

/** The columns that `--from` reads of each product, for `--help`. */
export function columnsOfProducts(): string {
  const products = PRESET_NAMES.map(product => {
    const fields = fieldsOfProduct(product).map(
      ({ columns, required }) => columns.join(' or ') + (required ? '*' : ''),
    )
    const lines = wrapped(fields.join('; '), WIDTH - INDENT.length)
    return `  ${product}`.padEnd(INDENT.length) + lines.join(`\n${INDENT}`)
  })
  return `Columns that --from reads, or keys of NDJSON, whatever their case (* needed):\n${products.join('\n')}\n`
}
