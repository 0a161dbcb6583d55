/*
 * The kinds of refusal, with the meaning of each for a retry, and the remedy for a person. Section 7 of the contract lists the
 * codes.
 */

/** Whether a call may be repeated. */
export type Repeatability = {
  /** The same call may succeed a little later. */
  readonly retryable: boolean
  /** The platform certainly did nothing. If false, it may have done all of it. */
  readonly certain: boolean
}

const whenFixed: Repeatability = { retryable: false, certain: true }
const later: Repeatability = { retryable: true, certain: true }
const outcomeUnknown: Repeatability = { retryable: true, certain: false }

type Kind = Repeatability & {
  /** What a person can do about it, in one or two sentences. */
  readonly whatToDo: string
}

export const KINDS = {
  unauthorized: {
    ...whenFixed,
    whatToDo: 'Check the app_key of this account; create a new one if it has expired.',
  },
  'access-denied': {
    ...whenFixed,
    whatToDo: 'Give the role of this app_key the permission the operation needs, or use a key that has it.',
  },
  balance: { ...whenFixed, whatToDo: "Top up the account's balance on the platform." },
  'no-route': {
    ...whenFixed,
    whatToDo: 'Check the base address: the platform has no such operation there.',
  },
  'invalid-request': {
    ...whenFixed,
    whatToDo: 'Check the ids and values in the request; the message names what is wrong.',
  },
  'content-type': {
    ...whenFixed,
    whatToDo:
      'Check proxies and gateways between Ferry and the platform: one of them changed the Content-Type header.',
  },
  'no-license': { ...whenFixed, whatToDo: 'Get the license this feature needs on the platform.' },
  order: { ...later, whatToDo: "Finish the account's open order on the platform, or wait until it is done." },
  'too-large': { ...whenFixed, whatToDo: 'Send less in one call.' },
  locked: {
    ...later,
    whatToDo: 'Wait: the platform has locked the account after repeated failures.',
  },
  verify: { ...whenFixed, whatToDo: 'Use an app_key that does not need a second factor for this operation.' },
  'too-frequent': {
    ...later,
    whatToDo: 'Wait: the limit is in use, perhaps by another program with this account.',
  },
  'server-error': {
    ...outcomeUnknown,
    whatToDo: 'Try again later. If the error stays, report the request_id to the platform.',
  },
  unavailable: { ...later, whatToDo: 'Try again later: a part of the platform is down.' },
  'no-envelope': {
    ...outcomeUnknown,
    whatToDo: 'Check the base address and any proxy or gateway in between: the answer is not from the API.',
  },
  'no-answer': {
    ...outcomeUnknown,
    whatToDo:
      'Try again later. If the error stays, check the network and what is in between, and raise FERRY_REQUEST_TIMEOUT if the time ran out.',
  },
  'not-sent': { ...later, whatToDo: 'Check the base address, the network and the proxy.' },
  'proxy-auth': {
    ...whenFixed,
    whatToDo: 'Put the right credentials into the address of the proxy: http://user:password@host:port.',
  },
  certificate: {
    ...whenFixed,
    whatToDo:
      'If your own certificate authority issued it, set NODE_EXTRA_CA_CERTS to a file with the certificate of that ' +
      'authority (PEM) and start Ferry again. Otherwise check the base address and any proxies in between.',
  },
  redirected: {
    retryable: false,
    certain: false,
    whatToDo:
      'Set the base address to the final one. Ferry does not follow redirects, because the key is in the address.',
  },
  'answer-too-large': {
    retryable: false,
    certain: false,
    whatToDo:
      'Ask for less in one call: name single folders in FERRY_FOLDERS; for MCP servers, lower FERRY_PAGE_LIMIT.',
  },
  'contract-violation': {
    ...outcomeUnknown,
    whatToDo: 'Report the request_id to the platform: its answer breaks its own contract.',
  },
} satisfies Record<string, Kind>

export type RefusalKind = keyof typeof KINDS

/** The codes of the contract, each with its kind and the HTTP status that the contract gives it. */
const CODES: Readonly<Record<string, readonly [kind: RefusalKind, httpStatus: number]>> = {
  InvalidParameter: ['invalid-request', 400],
  BadRequest: ['invalid-request', 400],
  ResourceNotFound: ['invalid-request', 400],
  ReferenceExist: ['invalid-request', 400],
  InvalidContentType: ['content-type', 400],
  NoLicense: ['no-license', 400],
  Unauthorized: ['unauthorized', 401],
  BalanceNotEnough: ['balance', 402],
  AccessDenied: ['access-denied', 403],
  RouteNotFound: ['no-route', 404],
  MethodNotAllowed: ['no-route', 405],
  UndonedOrderExist: ['order', 409],
  EntityTooLarge: ['too-large', 413],
  RequestLocked: ['locked', 423],
  RequestVerifyRequired: ['verify', 428],
  DangerousOperation: ['verify', 428],
  RequestTooFrequently: ['too-frequent', 429],
  InternalError: ['server-error', 500],
  ServiceUnavailable: ['unavailable', 503],
}

const BY_STATUS: Readonly<Record<number, RefusalKind>> = {
  401: 'unauthorized',
  402: 'balance',
  403: 'access-denied',
  404: 'no-route',
  405: 'no-route',
  409: 'order',
  413: 'too-large',
  423: 'locked',
  428: 'verify',
  429: 'too-frequent',
  503: 'unavailable',
}

/**
 * Returns the kind of a refusal. The code decides; for a code that the contract does not have, the status does. A 429 is
 * `too-frequent` whatever its code.
 */
export function kindOf(code: string, httpStatus: number): RefusalKind {
  const [kind] = (httpStatus !== 429 && codeOfContract(code)) || []
  return kind ?? kindOfStatus(httpStatus)
}

/** Whether the contract has this code, and gives it this status. */
export function isOfContract(code: string, httpStatus: number): boolean {
  return codeOfContract(code)?.[1] === httpStatus
}

export function isCodeOfContract(code: string): boolean {
  return codeOfContract(code) !== undefined
}

function codeOfContract(code: string) {
  return Object.hasOwn(CODES, code) ? CODES[code] : undefined
}

function kindOfStatus(httpStatus: number): RefusalKind {
  const kind = BY_STATUS[httpStatus]
  if (kind !== undefined) return kind
  if (httpStatus >= 500) return 'server-error'
  return httpStatus >= 400 ? 'invalid-request' : 'contract-violation'
}
