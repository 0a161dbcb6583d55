import type { PoolClient } from 'pg'
import { createSuppressions } from '#src/store/imports/finish-staging.ts'
import { copyInto, hexOf } from '#src/store/imports/staging.ts'
import { openRecipientCheck, type RecipientCheck } from './checks/recipient.ts'
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
 * Throws `FileRefused` at the first line that cannot be read: somebody whose opt-out is on it would be subscribed again.
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
  const check = openRecipientCheck(method)
  let hashes: string[] = []
  const flush = async () => {
    const lines = hashes
    hashes = []
    if (lines.length > 0) await copyInto(client, target, Buffer.from(`${lines.join('\n')}\n`))
  }
  const sink: Sink = {
    row(line, values) {
      const recipient = textOf(values[RECIPIENT]) ?? ''
      const trouble = check(recipient)
      if (trouble) throw unreadable(source.name, line, trouble.message)
      hashes.push(hexOf(hashOf(recipient)))
      return true
    },
    damaged(line, _reason, message) {
      throw unreadable(source.name, line, message)
    },
  }
  await readRecipients(source, check, sink, async () => {
    signal.throwIfAborted()
    if (hashes.length >= COPY_LINES) await flush()
  })
  await flush()
  await source.expectUnchanged()
}

async function readRecipients(
  source: Source,
  check: RecipientCheck,
  sink: Sink,
  between: () => Promise<void>,
): Promise<void> {
  const fields = fieldsOf(null, {}).slice(RECIPIENT, RECIPIENT + 1)
  const { bytes, all } = await peek(source.content, HEAD)
  const format = sniffFormat(bytes, source.name)
  const [firstLine = ''] = bytes.toString('utf8').trimStart().split('\n', 1)
  const isHeader = fields.some(field => field.columns.includes(firstLine.trim().toLowerCase()))
  if (format === 'csv' && !isHeader && check(firstLine.trim()) === null) {
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

function unreadable(name: string, line: number, message: string): FileRefused {
  return new FileRefused(
    `Line ${line} of ${name} cannot be read (${message}): nobody is imported while it is not known who is not to be.`,
    'Correct the line, or take it out.',
  )
}
