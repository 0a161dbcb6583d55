import type { PoolClient } from 'pg'
import { createSuppressions } from '#src/store/imports/finish-staging.ts'
import { copyInto, hexOf } from '#src/store/imports/staging.ts'
import { cleanAddress } from './checks/clean-address.ts'
import { openRecipientCheck } from './checks/recipient.ts'
import { textOf } from './checks/values.ts'
import { openCsvReader } from './file/csv.ts'
import { fieldsOf, RECIPIENT } from './file/header.ts'
import { readBlocks } from './file/lines.ts'
import type { Sink } from './file/reader.ts'
import { openFile, readAll } from './file/rows.ts'
import { HEAD, sniffFormat } from './file/sniff.ts'
import { openSource, peek, type Source } from './file/source.ts'
import { FileRefused } from './file-refused.ts'

/** So many hashes are handed to Postgres at a time. */
const COPY_LINES = 10_000

/**
 * Reads the list given by `--suppress` into a table of hashes: one recipient a line, or a file with a column of them.
 * Throws `FileRefused` with the lines that cannot be read: somebody whose opt-out is on one would be subscribed again.
 */
export async function copySuppressions(
  client: PoolClient,
  path: string,
  method: string,
  hashOf: (recipient: string) => string,
  signal: AbortSignal,
): Promise<void> {
  await using source = await openSource(path, signal)
  const target = await createSuppressions(client)
  const recipientOf = openRecipientReader(method)
  const unreadable = openUnreadable(source.name)
  let hashes: string[] = []
  const flush = async () => {
    const lines = hashes
    hashes = []
    if (lines.length > 0) await copyInto(client, target, Buffer.from(`${lines.join('\n')}\n`))
  }
  const sink: Sink = {
    row(line, values) {
      const { recipient, trouble } = recipientOf(values[RECIPIENT])
      if (trouble === null) hashes.push(hexOf(hashOf(recipient)))
      else unreadable.add(line, trouble)
    },
    faultOf: values => (recipientOf(values[RECIPIENT]).trouble === null ? null : RECIPIENT),
    damaged: (line, _reason, message) => unreadable.add(line, message),
  }
  await readRecipients(
    source,
    text => recipientOf(text).trouble === null,
    sink,
    async () => {
      signal.throwIfAborted()
      if (hashes.length >= COPY_LINES) await flush()
    },
  )
  unreadable.expectNone()
  await flush()
  await source.expectUnchanged()
}

async function readRecipients(
  source: Source,
  isRecipient: (text: string) => boolean,
  sink: Sink,
  between: () => Promise<void>,
): Promise<void> {
  const fields = fieldsOf(null, {}).slice(RECIPIENT, RECIPIENT + 1)
  const { bytes, all } = await peek(source.content, HEAD)
  const format = sniffFormat(bytes, source.name)
  const [firstLine = ''] = bytes.toString('utf8').trimStart().split('\n', 1)
  const isHeader = fields.some(field => field.columns.includes(firstLine.trim().toLowerCase()))
  if (format === 'csv' && !isHeader && isRecipient(firstLine)) {
    await readAll(
      readBlocks(all),
      openCsvReader({ delimiter: ',', width: 1, columns: [0] }, 1, sink),
      between,
    )
  } else {
    const file = await openFile({ ...source, content: all }, fields, null)
    await file.readRows(sink, between)
  }
}

/** Reads recipients as rows do, and leniently: who was written to once must be found, whatever the address. */
function openRecipientReader(method: string) {
  const check = openRecipientCheck(method, true)
  return (value: unknown): { readonly recipient: string; readonly trouble: string | null } => {
    const written = textOf(value) ?? ''
    const recipient = method === 'email' ? cleanAddress(written).address : written
    return { recipient, trouble: check(recipient)?.message ?? null }
  }
}

/** So many lines are named. */
const LINES_NAMED = 20

/** Gathers the lines of a list that cannot be read, to tell of all of them at once. */
function openUnreadable(name: string) {
  const named: string[] = []
  let count = 0
  return {
    add(line: number, why: string) {
      count++
      if (named.length < LINES_NAMED) named.push(`line ${line} (${why})`)
    },
    expectNone() {
      if (count === 0) return
      const more = count > named.length ? `, and ${count - named.length} more` : ''
      throw new FileRefused(
        `${count === 1 ? '1 line' : `${count} lines`} of ${name} cannot be read: ${named.join(', ')}${more}. ` +
          'Nobody is imported while it is not known who is not to be.',
        count === 1 ? 'Correct the line, or take it out.' : 'Correct these lines, or take them out.',
      )
    },
  }
}
