import type { ImportOptions } from '#src/imports/staging/options.ts'

export const OPTIONS: ImportOptions = {
  account: 'default',
  pageId: 7n,
  method: 'email',
  map: {},
  lenientAddresses: false,
  defaultLocale: 'en-US',
  mapLocale: {},
  all: true,
  from: null,
  components: null,
  suppress: null,
  batchRows: 500,
  firstRows: null,
  onUncertain: 'resend',
  update: false,
}

export const NEVER = new AbortController().signal
