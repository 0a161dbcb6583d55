import type { Filter } from './filters.ts'

/** A choice of accounts: those that are configured, and the one in the address, which may be an older one. */
export function accountFilter(accounts: readonly string[], query: URLSearchParams): Filter {
  const asked = query.get('account')
  const choices = choicesOf(asked ? [...accounts, asked] : accounts)
  return { name: 'account', label: 'Account', kind: 'choice', choices, any: 'all' }
}

/** A choice of values that need no other words. */
export function choicesOf<Value extends string>(values: readonly Value[]): Readonly<Record<string, string>> {
  return Object.fromEntries(values.map(value => [value, value]))
}
