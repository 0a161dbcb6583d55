import type { Pool } from 'pg'
import { z } from 'zod'
import type { ActedBy } from '#src/model/act.ts'
import type { Access, Visitor } from './access.ts'
import type { Html } from './html.ts'
import type { ConsoleTarget } from './target.ts'

/** The places of the navigation. */
export const SECTIONS = {
  now: { name: 'Now', path: '/' },
  rules: { name: 'Rules', path: '/rules' },
  changes: { name: 'Changes', path: '/changes' },
  firing: { name: 'Firing', path: '/firing' },
  imports: { name: 'Imports', path: '/imports' },
  mcp: { name: 'MCP', path: '/servers' },
  ledger: { name: 'Activity', path: '/ledger' },
} as const
export type Section = keyof typeof SECTIONS

/** What a page is rendered from. */
export type PageRequest = {
  /** The path that was asked for, without its query. */
  readonly path: string
  /** The parts of the path that the page names, such as `id`. Not checked yet. */
  readonly params: Readonly<Record<string, string>>
  /** Not checked yet: see `parsedQuery`. */
  readonly query: URLSearchParams
  readonly visitor: Visitor
  readonly target: ConsoleTarget
  /** Reads with the rights of the reader role: no recipients of imports, no hashes, no keys. */
  readonly reader: Pool
}

export type View = {
  readonly title: string
  /** Stands above the page; absent: the title. */
  readonly heading?: Html
  readonly body: Html
  /** How often the page fetches itself; absent: never. */
  readonly refreshEveryMs?: number
}

/** A page that only shows. */
export type Page = {
  /** As fastify writes it: `/imports/:id`. */
  readonly path: string
  readonly section: Section
  /** `operate` for recipients of imports. */
  readonly access: Access
  /** Null if there is no such thing. */
  render(request: PageRequest): Promise<View | null>
  /** The same list whole as CSV, served at its path and `.csv`; absent: it is no list. */
  csv?(request: PageRequest): AsyncGenerator<string>
}

/** What a confirmation page says before anything happens. */
export type Confirmation = {
  readonly title: string
  /** What will happen, in sentences; more fields of the form if it needs any. */
  readonly body: Html
  /** The words on the button: what is done, `Pause import 7`. */
  readonly button: string
  /** For what cannot be undone. */
  readonly isDangerous?: boolean
  /** Where "Back" leads. */
  readonly back: string
}

/** A decision: GET asks for confirmation, POST carries it out. Only for those who may operate. */
export type Action = {
  /** As fastify writes it: `/imports/:id/pause`. */
  readonly path: string
  readonly section: Section
  /** The page of what it is about. */
  backFrom(params: PageRequest['params']): string
  /** Null if there is no such thing. `goTo` if nothing is left to decide, and that page says why. */
  confirm(request: PageRequest): Promise<Confirmation | { readonly goTo: string } | null>
  /**
   * Does it, and records it in the audit with `by`, as its last statement. Returns the path to go to, or null if there is no
   * such thing. Throws an error with a `message` for people, and `whatToDo` if there is a remedy.
   */
  act(request: PageRequest, by: ActedBy, form: URLSearchParams): Promise<string | null>
}

/** A page with a form that asks something and changes nothing. */
export type LookupView = {
  readonly title: string
  /** What is asked for: the fields of the form, and words before them. */
  readonly fields: Html
  readonly button: string
  /** What was found; null before anything was asked. */
  readonly found: Html | null
  readonly back: string
}

/**
 * A question about something that must be in no address, history or log, such as a recipient: GET shows a form, POST the form and
 * what was found. Only for those who may operate, and guarded as an action is.
 */
export type Lookup = {
  /** As fastify writes it: `/imports/:id/recipient`. */
  readonly path: string
  readonly section: Section
  /** `form` is null before anything was asked. Null: there is no such thing. */
  look(request: PageRequest, form: URLSearchParams | null): Promise<LookupView | null>
}

/** The state of a thing does not allow what was asked, or has changed since. The message says so, with the current state. */
export class NotPossible extends Error {
  override readonly name = 'NotPossible'
  /** The page of the thing. */
  readonly back: string

  constructor(message: string, back: string, options?: ErrorOptions) {
    super(message, options)
    this.back = back
  }
}

/** A parameter of the address is wrong. The message names it. */
export class BadQuery extends Error {
  override readonly name = 'BadQuery'
}

/** Parses the query. An empty value counts as absent, as a form sends it. Throws `BadQuery`, also for a parameter that is given twice, and for U+0000, which Postgres refuses. */
export function parsedQuery<Shape extends z.ZodObject>(
  query: URLSearchParams,
  shape: Shape,
): z.output<Shape> {
  const given = Object.fromEntries([...query].filter(([, value]) => value !== ''))
  for (const [name, value] of Object.entries(given)) {
    if (query.getAll(name).length > 1) {
      throw new BadQuery(`The address is wrong: ${name.slice(0, 50)}: it is given more than once.`)
    }
    if (!Object.hasOwn(shape.shape, name) && name !== 'after') {
      throw new BadQuery(`The address is wrong: this page has no parameter named ${name.slice(0, 50)}.`)
    }
    if (value.includes('\0')) throw new BadQuery(`The address is wrong: ${name}: it contains U+0000.`)
  }
  const { data, error } = shape.safeParse(given, { error: wordsOf })
  if (data) return data as z.output<Shape>
  const [issue] = error?.issues ?? []
  throw new BadQuery(`The address is wrong: ${issue?.path.join('.') || 'a parameter'}: ${issue?.message}.`)
}

/** What a wrong value should be, unless the shape says it itself. */
function wordsOf(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_value':
      return `write ${issue.values.map(String).join(' or ')}`
    case 'too_big':
      return `it is longer than ${issue.maximum} characters`
    default:
      return 'its value is not valid'
  }
}

/** Whether the address asks for the first page of a whole list. A form with nothing in it, sent by its button, does too. */
export function asksForAll(query: URLSearchParams): boolean {
  return [...query].every(([, value]) => value === '')
}

/** Of a run, an import or an event. */
export const MAX_ID = 2n ** 63n - 1n

/** An id in an address, of `what`: `a folder`. */
export function idIn(what: string, max: bigint): z.ZodType<bigint> {
  return z
    .string()
    .refine(text => /^\d{1,20}$/.test(text) && BigInt(text) <= max, `write the number of ${what}`)
    .transform(BigInt)
}

/** The number of a run, an import or an event; null if the text is not one. */
export function idOf(text: string | undefined): bigint | null {
  if (!/^\d{1,19}$/.test(text ?? '')) return null
  const id = BigInt(text ?? '')
  return id <= MAX_ID ? id : null
}

/** An address of the console. What is null or undefined is left out; every value is encoded. */
export function href(path: string, query: Readonly<Record<string, string | null | undefined>> = {}): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] != null)
  const search = new URLSearchParams(given).toString()
  return search === '' ? path : `${path}?${search}`
}

/** The same list, narrowed further, from its first page. */
export function narrowed(
  path: string,
  query: URLSearchParams,
  more: Readonly<Record<string, string | null>>,
): string {
  const { after: _, ...kept } = Object.fromEntries(query)
  return href(path, { ...kept, ...more })
}
