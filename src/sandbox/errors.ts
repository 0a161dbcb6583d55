/** Section 7 of the contract: each code with its HTTP status and the sandbox's message. */
export const ERRORS = {
  InvalidParameter: [400, 'A required parameter is missing or failed validation.'],
  BadRequest: [400, 'The request is invalid.'],
  InvalidContentType: [400, 'Content-Type must be application/json.'],
  ResourceNotFound: [400, 'The target resource does not exist.'],
  NoLicense: [400, 'This feature needs a valid license and none was found.'],
  ReferenceExist: [400, 'The resource is still referenced by another entity.'],
  Unauthorized: [401, 'The app_key is missing, invalid or expired.'],
  BalanceNotEnough: [402, 'The account balance is too low for this operation.'],
  AccessDenied: [403, 'The role of this app_key does not permit the operation.'],
  RouteNotFound: [404, 'The path is not a known route.'],
  MethodNotAllowed: [405, 'The path does not accept this HTTP method.'],
  UndonedOrderExist: [409, 'The account has an unfinished order, retry later.'],
  EntityTooLarge: [413, 'The request body exceeds the maximum length.'],
  RequestLocked: [423, 'Temporarily locked after repeated failures.'],
  RequestVerifyRequired: [428, 'A second-factor verification code is needed.'],
  DangerousOperation: [428, 'This dangerous operation needs multi-factor verification.'],
  RequestTooFrequently: [429, 'A rate limit was hit, slow down.'],
  InternalError: [500, 'An unexpected server error occurred.'],
  ServiceUnavailable: [503, 'A backend dependency is unavailable, retry later.'],
} as const satisfies Record<string, readonly [number, string]>

export type ErrorCode = keyof typeof ERRORS

/** The platform's refusal to do the work. Its code may be one that the contract does not know. */
export type Refusal = {
  readonly ok: false
  readonly code: string
  readonly status: number
  readonly message: string
  readonly retryAfterS: number | null
}

export function refuse(code: ErrorCode, message?: string, retryAfterS: number | null = null): Refusal {
  const [status, usual] = ERRORS[code]
  return { ok: false, code, status, message: message ?? usual, retryAfterS }
}

export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERRORS, code)
}
