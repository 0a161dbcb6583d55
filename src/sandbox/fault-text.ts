import type { Operation } from '#src/model/call.ts'
import { OPERATIONS } from '#src/platform/operations.ts'
import { ERRORS, type ErrorCode, isErrorCode } from './errors.ts'
import { type Applied, Fault, type FaultInput, type When } from './faults.ts'

/*
 * A fault as one line of text for the command line: which calls, how often, what fails, and whether the work is done.
 *
 *     import:every=10:500           every tenth import gets 500
 *     import:nth=3:drop:applied     the third import is done, but its connection is closed without an answer
 *     import:every=2:503:half       every second import is half done, and refused
 *     rules:always:late=2s          every list of rules comes two seconds late
 */

export type FaultText = { readonly fault: Fault; readonly when: When }

const OPERATION_OF = new Map<string, Operation | undefined>([
  ['import', 'import-subscribers'],
  ['rules', 'list-alert-rules'],
  ['servers', 'list-mcp-servers'],
  ['any', undefined],
])

/** Faults that need only their name. */
const PLAIN = ['drop', 'hang', 'truncate', 'empty', 'no-data', 'no-request-id', 'wrong-types'] as const

/** The contract's error code for a status. */
const CODE_OF_STATUS = new Map(
  Object.entries(ERRORS)
    .toReversed()
    .map(([code, [status]]) => [`${status}`, code as ErrorCode]),
)

/** Reads a fault. Throws an error that says what to write. */
export function parseFault(text: string): FaultText {
  const [name = '', often = '', what = '', how, ...more] = text.split(':')
  if (more.length > 0 || what === '') {
    throw new Error('Write OPERATION:WHEN:WHAT, such as import:every=10:500.')
  }
  const when = { ...operationOf(name), ...timesOf(often) }
  const fault = Fault.safeParse({ ...faultOf(what), ...appliedOf(how) })
  if (!fault.success) throw new Error(`${what} always does the work. Leave out ${how}.`)
  return { fault: fault.data, when }
}

function operationOf(name: string): Pick<When, 'operation'> {
  if (Object.hasOwn(OPERATIONS, name)) return { operation: name as Operation }
  if (OPERATION_OF.has(name)) return { operation: OPERATION_OF.get(name) }
  throw new Error(`There is no operation ${name}. Write ${[...OPERATION_OF.keys()].join(', ')}.`)
}

function timesOf(often: string): Pick<When, 'nth' | 'every'> {
  if (often === 'always') return {}
  const [, word, number] = /^(nth|every)=([1-9]\d{0,8})$/.exec(often) ?? []
  if (word === undefined)
    throw new Error(`${often} does not say which calls fail. Write every=10, nth=3 or always.`)
  return { [word]: Number(number) }
}

function faultOf(what: string): FaultInput {
  const plain = PLAIN.find(kind => kind === what)
  if (plain !== undefined) return { kind: plain }
  if (isErrorCode(what)) return { kind: 'error', code: what }
  const code = CODE_OF_STATUS.get(what)
  if (code !== undefined) return { kind: 'error', code }
  if (/^[45]\d\d$/.test(what)) return { kind: 'html', status: Number(what) }
  const [, number, unit] = /^late=(\d{1,6})(ms|s)$/.exec(what) ?? []
  if (unit !== undefined) return { kind: 'late', ms: Number(number) * (unit === 's' ? 1_000 : 1) }
  throw new Error(
    `There is no fault ${what}. Write an HTTP status from 400 to 599, an error code of the platform, late=2s, ${PLAIN.join(', ')}.`,
  )
}

function appliedOf(how: string | undefined): { applied?: Applied } {
  if (how === undefined) return {}
  if (how === 'applied') return { applied: true }
  if (how === 'half') return { applied: 'half' }
  throw new Error(`${how} does not say how much of the work is done. Write applied or half, or leave it out.`)
}
