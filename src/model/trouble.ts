import type { Resource } from './resource.ts'

/*
 * Why an inventory is not read, in one sentence that is the same everywhere: in the console, on the command line, in
 * `/freshness` and in messages.
 */

export const WHY_LATE = ['failed', 'partial', 'running', 'no run', 'paused', 'clock set back'] as const
export type WhyLate = (typeof WHY_LATE)[number]

/** What is known of an inventory that is late, or whose runs fail. */
export type Trouble = {
  readonly why: WhyLate
  readonly account: string
  readonly inventory: Resource
  /** The schedule that keeps it fresh. */
  readonly schedule: string | null
  /** The last run that failed or was partial, and its error code. */
  readonly run: string | null
  readonly code: string | null
  /** Where the account's key is set: a setting, an environment variable or a file. Null: no worker has said. */
  readonly keySetting: string | null
  /** Whether a live worker has the account. */
  readonly hasWorker: boolean
}

type Cause = {
  /** The same for codes that say the same. */
  readonly cause: string
  /** What it is, and what to do. */
  readonly words: (trouble: Pick<Trouble, 'account' | 'inventory' | 'keySetting'>) => string
}

const UNREACHABLE: Cause = {
  cause: 'platform unreachable',
  words: () => 'platform unreachable: check its base address, the network and the proxy',
}
const PLATFORM_FAILS: Cause = {
  cause: 'platform fails',
  words: () => 'the platform fails: Ferry goes on trying; if it stays, report the request_id to the platform',
}

/** The codes that are the same trouble for all inventories of an account. */
const CAUSES: Readonly<Record<string, Cause>> = {
  Unauthorized: {
    cause: 'key refused',
    words: trouble => `key refused (401): set ${keyOf(trouble)}`,
  },
  AccessDenied: {
    cause: 'permission missing',
    words: trouble =>
      `permission missing (403): give the role of the key in ${keyOf(trouble)} the right to view ${trouble.inventory}`,
  },
  BalanceNotEnough: {
    cause: 'balance too low',
    words: () => "balance too low (402): top up the account's balance on the platform",
  },
  NoLicense: { cause: 'no license', words: () => 'no license: get the license that the platform asks for' },
  NotSent: UNREACHABLE,
  NoAnswer: UNREACHABLE,
  CertificateNotTrusted: {
    cause: 'certificate not trusted',
    words: () =>
      "the platform's certificate is not trusted: set NODE_EXTRA_CA_CERTS, or check the base address",
  },
  ProxyAuthenticationRequired: {
    cause: 'proxy refuses',
    words: () => 'the proxy refuses its user or password: set them in HTTPS_PROXY',
  },
  InternalError: PLATFORM_FAILS,
  ServiceUnavailable: PLATFORM_FAILS,
}

/** Says why, and what to do. */
export function troubleInWords(trouble: Trouble): string {
  const { why, account, schedule, run, code } = trouble
  const details = run === null ? '' : ` \`ferry runs show ${run}\` has the details.`
  const withCode = code === null ? '' : ` (${code})`
  const alone = trouble.hasWorker ? '' : ` No worker has account ${account} now.`
  switch (why) {
    case 'failed':
      return `${causeOfCode(code)?.words(trouble) ?? `the last run failed${withCode}`}.${details}${alone}`
    case 'partial':
      return `the last listing was not complete${withCode}.${details}${alone}`
    case 'running':
      return trouble.hasWorker
        ? 'a run is under way and has not ended yet.'
        : `a run has not ended, and no worker has account ${account} now. Unless \`ferry sync\` is reading, it is lost: start \`ferry worker\` with that account in its settings.`
    case 'paused':
      return `its schedule is paused: \`ferry schedules resume ${schedule} --account ${account}\` lets it go on.`
    case 'clock set back':
      return "the listing is later than the database's clock: the clock was set back. The next complete run ends this."
    case 'no run':
      return trouble.hasWorker
        ? 'no run was tried, though a worker has this account: see `ferry schedules list` and the log of the worker.'
        : `no worker has this account: start \`ferry worker\` with account ${account} in its settings.`
  }
}

/** The same for two troubles of an account that have one cause, which is then told once. */
export function causeOf({ why, inventory, schedule, code, hasWorker }: Trouble): string {
  if (why === 'failed') return causeOfCode(code)?.cause ?? `${code ?? 'failed'} of ${inventory}`
  if (why === 'no run' && !hasWorker) return 'no worker'
  return why === 'paused' ? `paused ${schedule}` : `${why} of ${inventory}`
}

function causeOfCode(code: string | null): Cause | undefined {
  return code !== null && Object.hasOwn(CAUSES, code) ? CAUSES[code] : undefined
}

function keyOf({ account, keySetting }: Pick<Trouble, 'account' | 'keySetting'>): string {
  return keySetting ?? `the app_key of account ${account}`
}
