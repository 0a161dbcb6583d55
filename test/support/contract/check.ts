import { Ajv, type ValidateFunction } from 'ajv'
import type { Exchange } from '#src/sandbox/options.ts'
import { FAILURE, OPERATIONS, STATUS_OF, success } from './schema.ts'

const ajv = new Ajv({ allowUnionTypes: true, strictTypes: false })
const requests = new Map(
  Object.entries(OPERATIONS).map(([path, { request }]) => [path, ajv.compile(request)]),
)
const successes = new Map(
  Object.entries(OPERATIONS).map(([path, { data }]) => [path, ajv.compile(success(data))]),
)
const failure = ajv.compile(FAILURE)

/** Says what of a request breaks the contract's text (sections 4 and 5). */
export function requestProblems({ method, url, headers, text }: Exchange): string[] {
  const { pathname, searchParams } = new URL(url, 'http://platform')
  const validate = requests.get(pathname)
  if (validate === undefined) return [`${pathname} is no operation`]
  const names = [...searchParams.keys()]
  return [
    ...(method === 'POST' ? [] : [`the method is ${method}`]),
    ...(headers['content-type'] === 'application/json' ? [] : [`Content-Type is ${headers['content-type']}`]),
    ...(names.length === 1 && searchParams.get('app_key')
      ? []
      : [`the query has ${names.join(', ') || 'no app_key'}`]),
    ...problemsOf('the request', validate, text ?? ''),
  ]
}

/** Says what of an answer breaks the contract's text (sections 2, 4 and 7). */
export function answerProblems({ url, answer }: Exchange): string[] {
  if (answer === null) return []
  const { pathname } = new URL(url, 'http://platform')
  const { status, headers } = answer
  const text = Buffer.concat(answer.body.map(piece => piece.bytes)).toString('utf8')
  const isSuccess = status >= 200 && status < 300
  const validate = isSuccess ? successes.get(pathname) : failure
  if (validate === undefined) return [`${pathname} is no operation, and the answer is a success`]
  const problems = problemsOf(`the answer (${status})`, validate, text)
  if (problems.length > 0) return problems
  const { request_id, error } = JSON.parse(text)
  const expected = isSuccess ? 200 : STATUS_OF[error.code]
  return [
    ...(headers['Content-Type']?.startsWith('application/json') ? [] : [`it is ${headers['Content-Type']}`]),
    ...(headers['Service-Request-Id'] === request_id ? [] : ['Service-Request-Id is not the request_id']),
    ...(status === expected ? [] : [`${error?.code ?? 'a success'} has the status ${status}`]),
  ]
}

function problemsOf(what: string, validate: ValidateFunction, text: string): string[] {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    return [`${what} is not JSON`]
  }
  if (validate(body)) return []
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${what}: ${instancePath} ${message} ${JSON.stringify(params)}`,
  )
}
