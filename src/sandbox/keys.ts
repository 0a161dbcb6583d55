export const PERMISSIONS = ['monit', 'on-call'] as const

export type Permission = (typeof PERMISSIONS)[number]

/** An app_key as the platform's console issues it: it stands for an account, with the permissions of one role. */
export type AppKey = {
  readonly key: string
  readonly accountId: bigint
  readonly permissions: readonly Permission[]
  /** Null never expires. */
  readonly expiresAt: Date | null
}

/** The account that owns the sample data and the default key. */
export const SANDBOX_ACCOUNT_ID = 2_451_002_751_131n

/** Returns the key if it is valid now; undefined if it is missing, unknown or expired. */
export function validKey(keys: ReadonlyMap<string, AppKey>, given: unknown): AppKey | undefined {
  const key = typeof given === 'string' ? keys.get(given) : undefined
  const expired = key !== undefined && key.expiresAt !== null && key.expiresAt.getTime() <= Date.now()
  return expired ? undefined : key
}
