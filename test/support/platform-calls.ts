/** What tests of the client call the platform with. */

export const context = { runId: 7n, signal: new AbortController().signal }
export const page = { page: 1, limit: 20, includeAccount: true }
export const batch = {
  page_id: 2n ** 64n - 1n,
  method: 'email',
  subscribers: [{ recipient: 'ada@example.com', all: true as const, locale: 'en-US' }],
}
