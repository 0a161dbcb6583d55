import { Secret } from '../model/secret.ts'
import type { NotifySettings } from '../model/settings.ts'
import { WebhookSecret } from './notify-values.ts'
import { plainHttpMistake } from './plain-http.ts'
import { readSettingOrFile } from './setting-or-file.ts'
import type { Environment } from './settings.ts'

/** Slack's own webhooks take nothing but text; no setting is needed to know that. */
const SLACK_HOST = 'hooks.slack.com'

/** Reads where events go. Adds mistakes to `mistakes`. */
export function readNotify(settings: Environment, mistakes: string[]): NotifySettings {
  const { FERRY_WEBHOOK_URL: url, FERRY_HEARTBEAT_URL: heartbeat } = settings
  for (const [setting, address] of Object.entries({
    FERRY_WEBHOOK_URL: url,
    FERRY_HEARTBEAT_URL: heartbeat,
  })) {
    const mistake = plainHttpMistake(address, setting, 'its messages', settings)
    if (mistake !== null) mistakes.push(mistake)
  }
  const key = readKey(settings, mistakes)
  const isSlack = URL.parse(url ?? '')?.hostname === SLACK_HOST
  return {
    webhook:
      url === undefined
        ? null
        : {
            url: new Secret(url),
            key,
            format: settings.FERRY_WEBHOOK_FORMAT ?? (isSlack ? 'slack' : 'standard'),
          },
    heartbeat: heartbeat === undefined ? null : new Secret(heartbeat),
    allowsPrivate: settings.FERRY_WEBHOOK_PRIVATE,
    kinds: settings.FERRY_NOTIFY,
  }
}

function readKey(settings: Environment, mistakes: string[]): Secret | null {
  const found = readSettingOrFile('FERRY_WEBHOOK_SECRET', settings, mistakes)
  if (found === null) return null
  const { data, error } = WebhookSecret.safeParse(found.text)
  for (const { message } of error?.issues ?? []) mistakes.push(`${found.where} ${message}`)
  return data ?? null
}
