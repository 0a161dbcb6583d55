/*
 * The platform's contract once more, written from its text alone (the numbers are its sections), as JSON Schemas. Ferry
 * and the sandbox have a reading of their own; what both read in the same wrong way, only a third one finds.
 *
 * Nothing may be sent or answered that the text does not name: a platform may grow, Ferry and the sandbox do not.
 */

// As doubles, which is how JSON.parse reads them: the last digits are for other tests.
const uint64 = { type: 'integer', minimum: 0, maximum: 2 ** 64 }
const int64 = { type: 'integer', minimum: -(2 ** 63), maximum: 2 ** 63 }
const text = { type: 'string' }
const flag = { type: 'boolean' }

function object(properties: Record<string, object>, required: readonly string[] = Object.keys(properties)) {
  return { type: 'object', properties, required, additionalProperties: false }
}

/** 2.2 */
const alertRule = object(
  {
    id: uint64,
    account_id: uint64,
    folder_id: uint64,
    name: text,
    labels: { type: 'object', additionalProperties: text },
    ds_type: text,
    enabled: flag,
    debug_log_enabled: flag,
    // Five fields, and the time zone is not among them.
    cron_pattern: { type: 'string', pattern: '^(?!CRON_TZ=|TZ=)\\S+( +\\S+){4}$' },
    // IANA names only.
    timezone: { type: 'string', pattern: '^(UTC|[A-Za-z_]+/[A-Za-z0-9_+/-]+)?$' },
    delay_seconds: { type: 'integer' },
    creator_id: uint64,
    creator_name: text,
    updater_id: uint64,
    updater_name: text,
    created_at: int64,
    updated_at: int64,
    triggered: flag,
  },
  [
    ...['id', 'account_id', 'folder_id', 'name', 'ds_type', 'enabled', 'debug_log_enabled', 'cron_pattern'],
    ...['delay_seconds', 'creator_id', 'creator_name', 'updater_id', 'updater_name', 'created_at'],
    ...['updated_at', 'triggered'],
  ],
)

/** 2.3: component ids are sent when `all` is false. */
const subscriber = (recipient: object) => {
  const shared = { recipient, locale: { type: 'string', pattern: '^[a-z]{2,3}-([A-Z]{2}|[0-9]{3})$' } }
  return {
    anyOf: [
      object({ ...shared, all: { const: true } }),
      object({
        ...shared,
        all: { const: false },
        component_ids: { type: 'array', items: text, minItems: 1 },
      }),
    ],
  }
}

/** 2.4: nothing is called required. */
const mcpServer = object(
  {
    server_id: text,
    account_id: { type: 'integer' },
    team_id: { type: 'integer' },
    can_edit: flag,
    server_name: text,
    description: text,
    transport: text,
    url: text,
    status: text,
    connect_timeout: { type: 'integer' },
    call_timeout: { type: 'integer' },
    tool_count: { type: 'integer' },
    tools: { type: 'array', items: object({ name: text, description: text }) },
    auth_mode: text,
    created_by: { type: 'integer' },
    created_at: { type: 'integer' },
    updated_at: { type: 'integer' },
  },
  [],
)

/** 4: each path with the body it is sent and the data it answers. */
export const OPERATIONS: Readonly<Record<string, { readonly request: object; readonly data: object }>> = {
  '/monit/rule/list/basic': {
    request: object({ folder_id: uint64 }, []),
    data: { type: 'array', items: alertRule },
  },
  '/status-page/subscriber/import': {
    request: {
      anyOf: [
        object({
          page_id: { type: 'integer' },
          method: { const: 'email' },
          subscribers: {
            type: 'array',
            items: subscriber({ type: 'string', pattern: '^[^@\\s]+@[^@\\s]+$' }),
          },
        }),
        object({
          page_id: { type: 'integer' },
          method: { type: 'string', not: { const: 'email' } },
          subscribers: { type: 'array', items: subscriber(text) },
        }),
      ],
    },
    data: { type: 'object', maxProperties: 0 },
  },
  '/safari/mcp/server/list': {
    request: object({
      p: { type: 'integer', minimum: 1 },
      limit: { type: 'integer', minimum: 1 },
      include_account: flag,
    }),
    data: object({ total: { type: 'integer', minimum: 0 }, servers: { type: 'array', items: mcpServer } }),
  },
}

/** 7 */
export const STATUS_OF: Readonly<Record<string, number>> = {
  InvalidParameter: 400,
  BadRequest: 400,
  InvalidContentType: 400,
  ResourceNotFound: 400,
  NoLicense: 400,
  ReferenceExist: 400,
  Unauthorized: 401,
  BalanceNotEnough: 402,
  AccessDenied: 403,
  RouteNotFound: 404,
  MethodNotAllowed: 405,
  UndonedOrderExist: 409,
  EntityTooLarge: 413,
  RequestLocked: 423,
  RequestVerifyRequired: 428,
  DangerousOperation: 428,
  RequestTooFrequently: 429,
  InternalError: 500,
  ServiceUnavailable: 503,
}

/** 2.1 */
export const success = (data: object) => object({ request_id: { type: 'string', minLength: 1 }, data })
export const FAILURE = object({
  request_id: { type: 'string', minLength: 1 },
  error: object({ code: { enum: Object.keys(STATUS_OF) }, message: { type: 'string', minLength: 1 } }),
})
