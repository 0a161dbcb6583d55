import { z } from 'zod'
import { ALERT_RULE } from '../model/alert-rule.ts'
import { isNot } from '../model/did-you-mean.ts'
import { definitionOf } from '../model/fields.ts'
import { WEBHOOK_FORMATS } from '../model/settings.ts'
import { isRecord, mistakesIn, readJsonFile } from './json-file.ts'
import { CallUrl, DigestTime, EventNames } from './notify-values.ts'
import { FolderList, quoted } from './values.ts'

const Texts = z
  .array(z.string().min(1, 'is empty; write it, or leave it out'))
  .min(1, 'is empty; write it, or leave it out')

/** The fields of which a change may be told, as the contract names them. */
const FIELD_NAMES = definitionOf(ALERT_RULE.fields)
const FieldName = z.string().refine(name => FIELD_NAMES.includes(name), {
  error: ({ input }) => `${quoted(input)} ${isNot('a field of alert rules', `${input}`, FIELD_NAMES)}`,
})

const FILTER = {
  accounts: Texts.optional(),
  folders: FolderList.optional(),
  teams: Texts.optional(),
  labels: z
    .record(
      z.string(),
      z.union([z.string().transform(value => [value]), Texts], {
        error: 'is not a text, or a list of texts; write "critical" or ["critical", "warning"]',
      }),
    )
    .optional(),
  fields: z.array(FieldName).min(1, 'is empty; write it, or leave it out').optional(),
  people: Texts.optional(),
}

const FIELDS = {
  name: z
    .string()
    .regex(/^[a-z0-9_-]{1,63}$/, 'is not a name; write lower-case letters, digits, - and _, such as on-call'),
  url: CallUrl.optional(),
  urlFile: z.string().min(1).optional(),
  format: z
    .enum(WEBHOOK_FORMATS, {
      error: ({ input }) => `${quoted(input)} is not one of ${WEBHOOK_FORMATS.join(', ')}`,
    })
    .optional(),
  secretEnv: z.string().min(1).optional(),
  secretFile: z.string().min(1).optional(),
  events: EventNames.optional(),
  filter: z.strictObject(FILTER).optional(),
  details: z.boolean().optional(),
  digest: DigestTime.optional(),
}

/** One receiver of `FERRY_RECEIVERS_FILE`. It refers to its secret and never contains it. */
const ReceiverEntry = z
  .strictObject(FIELDS)
  .refine(entry => (entry.url === undefined) !== (entry.urlFile === undefined), {
    message: 'needs either url or urlFile (a file with the address), not both',
    // By default, another mistake of the receiver would hide this one.
    when: ({ value }) => isRecord(value),
  })
  .refine(entry => entry.secretEnv === undefined || entry.secretFile === undefined, {
    message:
      'has secretEnv (the name of an environment variable with the secret) and secretFile; write one of them',
    when: ({ value }) => isRecord(value),
  })
export type ReceiverEntry = z.output<typeof ReceiverEntry>

const ReceiversFile = z.strictObject({
  receivers: z.array(ReceiverEntry).min(1, 'is empty; write [{ "name": …, "url": … }]'),
})

/** Every key that the file may have, for "did you mean". */
const KEYS = ['receivers', ...Object.keys(FIELDS), ...Object.keys(FILTER)]

const SETTING = 'FERRY_RECEIVERS_FILE'

/** Returns the entries of the receivers file at `path` that have no mistake. Adds all mistakes to `mistakes`. */
export function readReceiversFile(path: string, mistakes: string[]): readonly ReceiverEntry[] {
  const content = readJsonFile(path, SETTING, '{ "receivers": [{ "name": …, "url": … }] }', mistakes)
  if (content === undefined) return []
  mistakes.push(...mistakesIn(content, SETTING, ReceiversFile, KEYS))
  const receivers = isRecord(content) && Array.isArray(content.receivers) ? content.receivers : []
  return receivers.flatMap(receiver => ReceiverEntry.safeParse(receiver).data ?? [])
}
