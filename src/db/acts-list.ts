import { ACTIONS } from '#src/model/act.ts'
import { ACCOUNT, idAfter, list, partOf, sinceAndUntil } from './list.ts'

/** Manual actions with the person and the reason, the newest first. */
export const ACT_LIST = list({
  caption: 'What people did by hand, the newest first',
  filters: {
    account: ACCOUNT,
    actor: {
      kind: 'text',
      label: 'Who',
      hint: 'a part of the name',
      suggest: async pool => (await import('./audit.ts')).suggestActors(pool),
      option: ['--as <name>', 'only what people did whose name contains this, in any case'],
    },
    action: {
      kind: 'choice',
      values: ACTIONS,
      label: 'Did',
      option: ['--action <action>', 'only this action'],
    },
    ...sinceAndUntil('only since: 24h, 7d or 2026-11-01'),
  },
  order: ['id'],
  async load(pool, { filter, after, limit }) {
    const { listActs } = await import('./audit.ts')
    const acts = await listActs(pool, limit + 1, { ...filter, before: idAfter(after) })
    return partOf(acts, limit, ({ act }) => [`${act}`])
  },
  columns: {
    when: row => row.at,
    who: row => row.actor,
    did: row => row.action,
    to: row => `${row.subjectKind} ${row.subject}`,
    rows: row => (row.rows === null ? null : `${row.rows} of ${row.ofRows}`),
    account: row => row.account,
    because: row => row.because,
  },
  none: 'No manual actions yet.',
  noneMatches: 'Nothing matches.',
})
