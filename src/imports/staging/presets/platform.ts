import { FINE, leftOut, type Preset, UNKNOWN } from './preset.ts'

/**
 * The platform's own export: Method, Recipient, Components, Subscribe All, Locale. How it writes several components in
 * one cell is not documented: every separator that Ferry knows is taken. Rows of another method than the one imported are
 * left out.
 */
export const platform: Preset = {
  product: 'the platform itself',
  columns: {
    recipient: ['recipient'],
    all: ['subscribe all', 'all'],
    component_ids: ['components', 'component_ids'],
    locale: ['locale'],
  },
  statuses: {
    method: {
      columns: ['method'],
      judge: (value, method) => {
        if (value === '') return UNKNOWN
        return value === method.toLowerCase() ? FINE : leftOut(`not ${method}`)
      },
    },
  },
}
