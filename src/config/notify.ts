import type { EventFilter } from '../model/event.ts'
import { USUAL_EVENTS } from '../model/event.ts'
import { Secret } from '../model/secret.ts'
import type { NotifySettings, Receiver } from '../model/settings.ts'
import { CallUrl, WebhookSecret } from './notify-values.ts'
import { plainHttpMistake } from './plain-http.ts'
import { type ReceiverEntry, readReceiversFile } from './receivers-file.ts'
import { type Found, readSecretFile, readSettingOrFile, secretOf, shownVariable } from './setting-or-file.ts'
import type { Environment } from './settings.ts'

/** Slack's own webhooks take nothing but text; no setting is needed to know that. */
const SLACK_HOST = 'hooks.slack.com'

/** The receiver of `FERRY_WEBHOOK_URL`. */
const WEBHOOK = 'webhook'

type Given = Readonly<Record<string, string>>

/** Reads where events go. Adds mistakes to `mistakes`. `variables` are the environment variables that the file refers to. */
export function readNotify(given: Given, settings: Environment, mistakes: string[]) {
  const { FERRY_HEARTBEAT_URL: heartbeat, FERRY_RECEIVERS_FILE: path } = settings
  const entries = path === undefined ? [] : readReceiversFile(path, mistakes)
  const plainHttp = plainHttpMistake(heartbeat, 'FERRY_HEARTBEAT_URL', 'its messages', settings)
  if (plainHttp !== null) mistakes.push(plainHttp)
  const receivers = [
    ...webhookOf(settings, mistakes),
    ...entries.flatMap(entry => fromFile(entry, given, settings, mistakes)),
  ]
  const names = receivers.map(({ name }) => name)
  for (const name of new Set(names.filter((name, index) => names.indexOf(name) !== index))) {
    const of = name === WEBHOOK ? `, which is that of FERRY_WEBHOOK_URL` : ''
    mistakes.push(`FERRY_RECEIVERS_FILE: two receivers have the name ${name}${of}; give each its own name`)
  }
  const notify: NotifySettings = {
    receivers,
    heartbeat: heartbeat === undefined ? null : new Secret(heartbeat),
    allowsPrivate: settings.FERRY_WEBHOOK_PRIVATE,
    publicUrl: settings.FERRY_PUBLIC_URL ?? null,
    timezone: settings.FERRY_TIMEZONE,
  }
  return { notify, variables: entries.flatMap(({ secretEnv }) => secretEnv ?? []) }
}

function webhookOf(settings: Environment, mistakes: string[]): Receiver[] {
  const { FERRY_WEBHOOK_URL: url, FERRY_WEBHOOK_FORMAT: format, FERRY_NOTIFY: kinds } = settings
  const key = keyOf(readSettingOrFile('FERRY_WEBHOOK_SECRET', settings, mistakes), mistakes)
  if (url === undefined) return []
  const urlSetting = 'FERRY_WEBHOOK_URL'
  const plainHttp = plainHttpMistake(url, urlSetting, 'its messages', settings)
  if (plainHttp !== null) mistakes.push(plainHttp)
  return [receiverOf({ name: WEBHOOK, url: new Secret(url), urlSetting, key, format, events: kinds })]
}

function fromFile(entry: ReceiverEntry, given: Given, settings: Environment, mistakes: string[]): Receiver[] {
  const { name, urlFile, secretEnv, secretFile } = entry
  const setting = `FERRY_RECEIVERS_FILE: receiver ${name}`
  const plainHttpIn = (url: string) => plainHttpMistake(url, setting, 'its messages', settings)
  const found = urlFile === undefined ? null : readSecretFile(urlFile, setting, mistakes)
  const url =
    entry.url === undefined
      ? urlIn(found, mistakes, text => plainHttpIn(text) === null)
      : new Secret(entry.url)
  const plainHttp = url && plainHttpIn(url.reveal())
  if (plainHttp) mistakes.push(plainHttp)
  const secret = secretEnv === undefined ? undefined : given[secretEnv]
  if (secretEnv !== undefined && secret === undefined) {
    const shown = shownVariable(secretEnv, 'secretEnv')
    mistakes.push(`${setting}: ${shown} is not set; set it to the webhook secret, or name another variable`)
  }
  const key = keyOf(
    secretFile !== undefined
      ? readSecretFile(secretFile, setting, mistakes)
      : secret === undefined
        ? null
        : { text: secret, where: `${setting}: ${secretEnv}:` },
    mistakes,
  )
  if (!url) return []
  return [receiverOf({ ...entry, url, urlSetting: `the address of receiver ${name}`, key })]
}

type Source = Omit<ReceiverEntry, 'urlFile' | 'secretEnv' | 'secretFile' | 'url'> & {
  readonly url: Secret
  readonly urlSetting: string
  readonly key: Secret | null
}

/** Returns a receiver, with the usual values for what `source` leaves out. */
function receiverOf({ name, url, urlSetting, key, ...source }: Source): Receiver {
  const isSlack = URL.parse(url.reveal())?.hostname === SLACK_HOST
  return Object.freeze({
    name,
    url,
    urlSetting,
    key,
    format: source.format ?? (isSlack ? 'slack' : 'standard'),
    kinds: source.events ?? USUAL_EVENTS,
    filter: filterOf(source.filter),
    details: source.details ?? false,
    digestCron: source.digest ?? null,
  })
}

function filterOf({ folders, ...filter }: NonNullable<ReceiverEntry['filter']> = {}): EventFilter {
  return {
    accounts: filter.accounts ?? null,
    folders: folders?.map(folder => `${folder}`) ?? null,
    teams: filter.teams ?? null,
    labels: filter.labels ?? null,
    fields: filter.fields ?? null,
    people: filter.people ?? null,
  }
}

/** `isSafe` is asked about an address that the file holds later. */
function urlIn(
  found: Found | null,
  mistakes: string[],
  isSafe: (url: string) => boolean,
): Secret | undefined {
  if (found === null) return undefined
  const { data, error } = CallUrl.safeParse(found.text)
  for (const { message } of error?.issues ?? []) mistakes.push(`${found.where} ${message}`)
  if (data === undefined) return undefined
  return secretOf(found, data, text => {
    const later = CallUrl.safeParse(text).data
    return later !== undefined && isSafe(later) ? later : null
  })
}

function keyOf(found: Found | null, mistakes: string[]): Secret | null {
  if (found === null) return null
  const { data, error } = WebhookSecret.safeParse(found.text)
  for (const { message } of error?.issues ?? []) mistakes.push(`${found.where} ${message}`)
  return data
    ? secretOf(found, data.reveal(), text => WebhookSecret.safeParse(text).data?.reveal() ?? null)
    : null
}
