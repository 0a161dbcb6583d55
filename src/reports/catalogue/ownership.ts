import type { Report } from '../report.ts'

export const OWNERSHIP_REPORTS: readonly Report[] = [
  {
    name: 'rules_by_folder',
    shows: 'rules of each folder: enabled, disabled, firing, without an owner',
    of: ['alert-rules'],
    takes: ['account'],
    query: 'select * from ferry.rules_by_folder where ($1::text is null or account = $1)',
    ofNight: 'select * from ferry.rules_by_folder_of_night($2) where ($1::text is null or account = $1)',
  },
  {
    name: 'rules_by_team',
    shows: 'rules of each team, by the labels team, owner and squad',
    of: ['alert-rules'],
    takes: ['account'],
    query: 'select * from ferry.rules_by_team where ($1::text is null or account = $1)',
    ofNight: 'select * from ferry.rules_by_team_of_night($2) where ($1::text is null or account = $1)',
  },
  {
    name: 'rules_unowned',
    shows: 'rules whose labels name no team, owner or squad',
    of: ['alert-rules'],
    takes: ['account'],
    query: 'select * from ferry.rules_unowned where ($1::text is null or account = $1)',
    ofNight: 'select * from ferry.rules_unowned_of_night($2) where ($1::text is null or account = $1)',
  },
  {
    name: 'editors',
    shows: 'who edits the rules of each folder, and where it is only one person',
    of: ['alert-rules'],
    takes: ['since', 'account'],
    looksBack: { at: 'versions', days: 30 },
    query: 'select * from ferry.editors($1) where ($2::text is null or account = $2)',
  },
  {
    name: 'churn_by_folder',
    shows: 'how many rules of each folder were added, changed, removed and returned',
    of: ['alert-rules'],
    takes: ['since', 'account'],
    looksBack: { at: 'versions', days: 7 },
    query: 'select * from ferry.churn_by_folder($1) where ($2::text is null or account = $2)',
  },
  {
    name: 'mass_edits',
    shows: 'when one person edited many rules within an hour',
    of: ['alert-rules'],
    takes: ['since', 'account'],
    looksBack: { at: 'versions', days: 7 },
    query: 'select * from ferry.mass_edits($1) where ($2::text is null or account = $2)',
  },
  {
    name: 'changes_between',
    shows: 'what differs in both inventories from a time (a day ago) to now',
    of: ['alert-rules', 'mcp-servers'],
    takes: ['since', 'account'],
    query: `select * from ferry.changes_between(coalesce($1, now() - interval '1 day'), now())
      where ($2::text is null or account = $2) order by account, inventory, change, name, id`,
  },
  {
    name: 'silenced',
    shows: 'rules that were disabled, removed or edited while they fired or soon after',
    of: ['alert-rules'],
    takes: ['since', 'account'],
    looksBack: { at: 'versions', days: 7 },
    query: 'select * from ferry.silenced($1) where ($2::text is null or account = $2)',
  },
]
