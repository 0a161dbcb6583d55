import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pick, type Random, seededRandom } from '#src/sandbox/random.ts'

/** Two files like the exports of another status page product, and what must happen to their rows. */
export type SamplePeople = {
  readonly file: string
  readonly suppressed: string
  readonly rows: number
  /** The addresses to be subscribed, once each. */
  readonly valid: ReadonlySet<string>
  readonly rejected: number
  readonly duplicates: number
  readonly unsubscribed: number
}

const VALID = 2_880
const DUPLICATES = 60
const UNSUBSCRIBED = 45

/** Common mistakes. Each of these rows is rejected, and no other row is. */
const BAD_ROWS = [
  'no-at-sign.example.com,Ada Byron,en-US',
  'two@@example.com,Ada Byron,en-US',
  'dot.@example.com,Ada Byron,en-US',
  'space in@example.com,Ada Byron,en-US',
  ',Nobody,en-US',
  'a@localhost only,Ada Byron,en-US',
  'ada@example.com,Ada Byron,english',
  'bob@example.com,Bob,xx-YY',
  'carol@example.com,"Carol ""the quote" Danvers,en-US',
  'dave@example.com,"Dave never closed,en-US',
  'erin@example.com,Erin,en-US,and,more,columns',
  `${'long'.repeat(70)}@example.com,Long,en-US`,
]

/** Writes both files into the directory. Their content is the same each time. */
export async function writeSamplePeople(directory: string): Promise<SamplePeople> {
  const random = seededRandom(2026)
  const people = Array.from({ length: VALID + UNSUBSCRIBED }, (_, number) => addressOf(random, number))
  const unsubscribed = people.filter((_, number) => number % 65 === 7).slice(0, UNSUBSCRIBED)
  const valid = new Set(people.filter(address => !unsubscribed.includes(address)))
  const rows = people.map(address => rowOf(random, address))
  // Duplicates are in upper case. Bad rows are at random places.
  const again = [...valid].slice(0, DUPLICATES).map(address => rowOf(random, address.toUpperCase()))
  for (const row of [...BAD_ROWS, ...again]) {
    rows.splice(Math.floor(rows.length / 2 + (random() * rows.length) / 2), 0, row)
  }
  const file = join(directory, 'subscribers.csv')
  const suppressed = join(directory, 'unsubscribed.csv')
  await writeFile(file, ['Email,Name,Language', ...rows, ''].join('\n'))
  await writeFile(suppressed, ['email', ...unsubscribed, ''].join('\n'))
  return {
    file,
    suppressed,
    rows: rows.length,
    valid,
    rejected: BAD_ROWS.length,
    duplicates: DUPLICATES,
    unsubscribed: unsubscribed.length,
  }
}

const FIRST = [
  'ada',
  'amara',
  'anna',
  'diego',
  'elif',
  'hiro',
  'ingrid',
  'jonas',
  'lucia',
  'mei',
  'noor',
  'priya',
]
const LAST = ['bakke', 'byrne', 'chen', 'haddad', 'lindqvist', 'nowak', 'okafor', 'raman', 'romero', 'silva']
const DOMAINS = ['example.com', 'example.org', 'ops.example.net']
const LANGUAGES = ['en-US', 'en-GB', 'de-DE', 'pt-BR', 'zh-CN', '']

/** Unique, because it ends with the number. */
function addressOf(random: Random, number: number): string {
  return `${pick(random, FIRST)}.${pick(random, LAST)}.${number}@${pick(random, DOMAINS)}`
}

function rowOf(random: Random, address: string): string {
  const [first = '', last = ''] = address.toLowerCase().split('.')
  return `${address},${capital(first)} ${capital(last)},${pick(random, LANGUAGES)}`
}

function capital(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1)
}
