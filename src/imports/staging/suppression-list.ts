import { isEmailValid } from '@hapi/address'
import type { PoolClient } from 'pg'
import { BinaryRows, rowStart } from '#src/db/binary-rows.ts'
import { copyRows } from '#src/db/copy.ts'
import { countOf } from '#src/db/rows.ts'
import { cleanRecipient, openRecipientCheck } from '#src/imports/staging/checks/recipient.ts'
import { holdsAddress } from '#src/model/addresses.ts'
import { counted } from '#src/model/counted.ts'
import { textOf } from './checks/values.ts'
import { CsvReader } from './file/csv.ts'
import { type Field, fieldsOf, nameOf, namesSomebody, openEnclosedCount, RECIPIENT } from './file/header.ts'
import { readBlocks, type Sink } from './file/lines.ts'
import { openFile, readAll } from './file/rows.ts'
import { HEAD, sniffFormat } from './file/sniff.ts'
import { type FileSource, openSource, peek } from './file/source.ts'
import { FileRefused } from './file-refused.ts'
import type { Staging } from './staging.ts'

/** How many bytes of hashes are sent to Postgres at a time. */
const COPY_BYTES = 64 * 1024

/**
 * Reads the list given by `--suppress` into a table of hashes, and returns how many recipients it names. It has one a line, or columns
 * of them. Throws `FileRefused` with the lines that cannot be read, and if it names nobody: a person who opted out would be subscribed
 * again.
 */
export async function copySuppressions(
  client: PoolClient,
  path: string,
  method: string,
  hashOf: (recipient: string) => string,
  signal: AbortSignal,
): Promise<number> {
  await using source = await openSource(path, signal)
  const target = await createSuppressions(client)
  const recipientsOf = openRowReader(method)
  const unreadable = openUnreadable(source.name)
  const hashes = new BinaryRows(COPY_BYTES * 2)
  const flush = async (more: number) => {
    if (hashes.size > more) await copyRows(client, target, hashes.take())
  }
  const start = rowStart(1)
  let count = 0
  const sink: Sink = {
    row(line, values, raw) {
      if (BLANK.test(raw)) return
      const { recipients, fault } = recipientsOf(values, raw)
      if (fault !== null) return unreadable.add(line, fault)
      for (const recipient of recipients) {
        hashes.begin(start)
        hashes.uuid(hashOf(recipient))
      }
      count += recipients.length
    },
    faultOf: values => (recipientsOf(values).fault === null ? null : RECIPIENT),
    damaged(line, reason, message, raw) {
      if (reason === 'number of fields' && BLANK.test(raw)) return
      unreadable.add(line, message, reason === 'not UTF-8')
    },
  }
  await readRecipients(
    source,
    text => {
      const { fault } = recipientsOf([text])
      return fault === null || (fault === FOR_MANY && text.includes('@'))
    },
    sink,
    async () => {
      signal.throwIfAborted()
      await flush(COPY_BYTES)
    },
  )
  unreadable.expectNone()
  if (count === 0) {
    throw new FileRefused(
      `${source.name} names nobody who must not be subscribed.`,
      'Check that the export is complete. If nobody is to be left out, leave out --suppress.',
    )
  }
  await flush(0)
  await source.expectUnchanged()
  return count
}

async function readRecipients(
  source: FileSource,
  isRecipient: (text: string) => boolean,
  sink: Sink,
  between: () => Promise<void>,
): Promise<void> {
  const [recipient] = fieldsOf(null, {}) as [Field, ...Field[]]
  const { columns } = recipient
  // A list that has more than one of these columns may name somebody in each.
  const others = columns.map(column => ({ ...recipient, columns: [column], required: false }))
  const fields: Field[] = [{ ...recipient, isListed: true }, ...others]
  const { bytes, all } = await peek(source.content, HEAD)
  const format = sniffFormat(bytes, source.name)
  const [firstLine = ''] = bytes.toString('utf8').trimStart().split('\n', 1)
  const names = columns.map(nameOf)
  const isHeader = firstLine.split(/[,;\t]/).some(cell => names.includes(nameOf(cell.replaceAll('"', ''))))
  if (format === 'csv' && !isHeader && !firstLine.includes(',') && isRecipient(firstLine)) {
    await readAll(
      readBlocks(all),
      new CsvReader({ delimiter: ',', width: 1, columns: [0] }, 1, sink),
      between,
    )
  } else {
    const file = await openFile({ ...source, content: all }, fields, null)
    await file.readRows(sink, between)
  }
}

/** A row of a spreadsheet without anything in it. */
const BLANK = /^[\s,;"]*$/

/** `*@example.com` may be a mailbox, but in such a list it means everybody there. */
const WILDCARD = /\*|^[?%]|[?%](?:@|$)|@[^@]*[?%]/
/** Also in a regular expression, or for one letter. In the address of a page, `?` is no pattern. */
const WILDCARD_OF_EMAIL = /^\.\+|\?/
const FOR_MANY = 'a pattern, and only recipients who are listed are left out: list each of them'

/** In no recipient but a few addresses. */
const SEPARATOR = /[;|\t]/
const SEVERAL = 'several columns, and no header names the one with the recipient'

/** A quote that is closed only rows later makes a note of them; from a note, nobody is left out. */
const ENCLOSES =
  'its quotes enclose further lines that may name somebody: correct them, or remove that column'

const UNREAD =
  'an address is in a column that is not read: call that column mail, address or subscriber, or remove it'
const CELL_END = /[",;\t\r\n]+/

/** Whether a cell of a row is an address, and is in none of the texts that were read of it. */
function hasAddressBeside(raw: string, read: ReadonlySet<string | null>): boolean {
  if (!raw.includes('@')) return false
  const cellsOf = (text: string) => text.split(CELL_END).map(cell => cell.trim().toLowerCase())
  const known = new Set([...read].flatMap(text => (text === null ? [] : cellsOf(text))))
  return cellsOf(raw).some(cell => cell.includes('@') && !known.has(cell) && isEmailValid(cell))
}

/** Reads recipients as rows do, but accepts unusual addresses: every recipient that the file may contain must be found. */
function openRecipientReader(method: string) {
  const isEmail = method === 'email'
  const check = openRecipientCheck(method, true)
  return (
    written: string | null,
  ): { readonly recipients: readonly string[]; readonly fault: string | null } => {
    if (written === null) return { recipients: [], fault: 'the recipient is not text' }
    const recipient = cleanRecipient(written, method).address
    if (WILDCARD.test(recipient) || (isEmail && WILDCARD_OF_EMAIL.test(recipient))) {
      return { recipients: [], fault: FOR_MANY }
    }
    const fault = check(recipient)?.message ?? null
    if (fault !== null || !isEmail)
      return { recipients: [recipient], fault: SEPARATOR.test(recipient) ? SEVERAL : fault }
    // It may be a mailbox, or two columns.
    const bar = recipient.lastIndexOf('|')
    const last = recipient.slice(bar + 1)
    return { recipients: bar === -1 || check(last) ? [recipient] : [recipient, last], fault }
  }
}

/**
 * Returns what reads the recipients of a row, those of each column, and says what keeps it from reading all of them: nothing can be read,
 * or what cannot be read may name somebody, as a street in a column called address does not.
 */
function openRowReader(method: string) {
  const recipientsIn = openRecipientReader(method)
  const isEmail = method === 'email'
  const namesOne = isEmail ? (text: string) => text.includes('@') || holdsAddress(text) : namesSomebody
  const mayName = (text: string | null) => text === null || namesOne(text)
  const enclosedIn = openEnclosedCount(method)
  // Of other methods, any text may be a recipient.
  const encloses = isEmail ? enclosedIn : (raw: string) => Number(/[\r\n]/.test(raw.trimEnd()))
  return (values: readonly unknown[], raw = '') => {
    const texts = new Set(values.map(textOf))
    if (texts.size > 1) texts.delete('')
    const read = [...texts].map(text => ({ text, ...recipientsIn(text) }))
    const recipients = read.flatMap(({ recipients, fault }) => (fault === null ? recipients : []))
    const unread = read.filter(({ fault }) => fault !== null)
    const naming =
      unread.find(({ text }) => mayName(text)) ?? (recipients.length === 0 ? unread[0] : undefined)
    const fault = naming?.fault ?? (encloses(raw, values) > 0 ? ENCLOSES : null)
    return { recipients, fault: fault ?? (isEmail && hasAddressBeside(raw, texts) ? UNREAD : null) }
  }
}

/** How many lines a message names. */
const MAX_LINES_NAMED = 20

/** Gathers the lines of a list that cannot be read, to report them all at once. */
function openUnreadable(name: string) {
  const named: string[] = []
  let count = 0
  let isLatin = false
  return {
    add(line: number, why: string, isNotUtf8 = false) {
      count++
      isLatin ||= isNotUtf8
      if (named.length < MAX_LINES_NAMED) named.push(`line ${line} (${why})`)
    },
    expectNone() {
      if (count === 0) return
      const more = count > named.length ? `, and ${count - named.length} more` : ''
      throw new FileRefused(
        `${counted(count, 'line')} of ${name} cannot be read: ${named.join(', ')}${more}. ` +
          'Nothing is imported until every suppressed recipient can be read.',
        isLatin
          ? 'If the list is Latin-1, convert it: iconv -f ISO-8859-1 -t UTF-8 FILE > utf8.csv'
          : 'Correct each of them. One that names nobody may be removed.',
      )
    },
  }
}

/** Creates the table of the hashes of suppressed recipients, for this transaction. Returns the target of COPY into it. */
export async function createSuppressions(client: PoolClient): Promise<string> {
  await client.query(
    'create temporary table import_suppressions (recipient_hash uuid not null) on commit drop',
  )
  return 'pg_temp.import_suppressions (recipient_hash)'
}

/** Moves the rows of suppressed recipients to those left out. Returns how many. */
export async function leaveOutSuppressed(client: PoolClient, { id, tables }: Staging): Promise<number> {
  const moved = await client.query(
    `with gone as (
       delete from ${tables.recipients} r
       where r.import_id = $1
         and exists (select from pg_temp.import_suppressions s where s.recipient_hash = r.recipient_hash)
       returning r.line, r.recipient_hash, r.recipient
     )
     insert into ${tables.leftOut} (import_id, line, kind, reason, recipient_hash, recipient)
     select $1, line, 'suppressed', 'suppression list', recipient_hash, recipient from gone`,
    [id],
  )
  return countOf(moved)
}
