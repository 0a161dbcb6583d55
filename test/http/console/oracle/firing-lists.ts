import { OF_ACCOUNT } from './inventory-lists.ts'
import { growing, type Listed, link, or, plain, type Row, state } from './listed.ts'

/* What fired, and what did not. How long is known here to a minute: the period begins a little later when the page is made. */

const firedIn = (hours: number): Listed => ({
  at: `/firing?hours=${hours} | Rules that fired longest`,
  sql: `
    select f.account, f.id, v.name, v.team, f.episodes, case when f.firing then 'firing' else 'not firing' end as state, e.events,
      ${growing('f.fired_ms - 60000')} as "fired for"
    from (
      select account, id, count(*)::int as episodes, bool_or(ended is null) as firing,
        sum(extract(epoch from coalesce(ended, now()) - greatest(began, now() - interval '${hours} hours'))) * 1000 as fired_ms
      from ferry.alert_rule_firings where coalesce(ended, 'infinity') > now() - interval '${hours} hours' group by account, id
    ) f cross join lateral (
      select name, team from ferry.alert_rule_versions v where v.id = f.id and v.account = f.account order by valid_from desc limit 1
    ) v cross join lateral (
      select coalesce(json_agg(json_build_object('at', round(extract(epoch from observed_at) * 1000), 'change', change,
        'enabled', after -> 'enabled', 'by', updater_name) order by observed_at), '[]') as events
      from ferry.alert_rule_changes c
      where c.id = f.id and c.account = f.account and observed_at >= now() - interval '${hours} hours' and not first_reading
    ) e order by f.fired_ms desc, account, id`,
  rows: 30,
  shows: 'Rule:thing, Team, Episodes, Fired for, State:state, Changed',
  cells: { Changed: ({ events }) => events.slice(-3).map(eventOf).join(' ') || '–' },
  filters: OF_ACCOUNT,
})

function eventOf({ at, change, enabled, by }: Row): string {
  const what =
    change === 'changed' ? (enabled === null ? 'edited' : enabled ? 'enabled' : 'disabled') : change
  return `${plain(new Date(at))} ${what}${by === null ? '' : ` by ${by}`}`
}

const LONGEST: Listed = {
  at: '/firing | Longest first',
  sql: `select account, id, name, began as since, ${growing('extract(epoch from firing_for) * 1000')} as for
    from ferry.alert_rules_firing order by began, account, id`,
  rows: 20,
  shows: 'Rule:thing, Since, For',
  filters: OF_ACCOUNT,
}

const noisyIn = (hours: number, words: string): Listed => ({
  at: `/firing/noisy?hours=${hours} | Rules with the most episodes in the last ${words}`,
  sql: `select *, ${growing('hours * 3600000 - 60000')} as "fired for" from ferry.rules_noisy(now() - interval '${hours} hours', at_most => null)
    order by episodes desc, hours desc, account, id`,
  shows: 'Rule:thing, Team, Episodes, Flaps, At night, Fired for, Last began',
  cells: {
    'At night': ({ night_share }) => `${Math.round(night_share * 100)} %`,
    'Last began': ({ last_began, firing }) => `${plain(last_began)}${firing ? ' bad:firing' : ''}`,
  },
  filters: OF_ACCOUNT,
})

const silencedIn = (hours: number, words: string): Listed => ({
  at: `/firing/silenced?hours=${hours} | The last ${words}, newest first`,
  sql: `select *, name as rule, at as when, updater_name as who from ferry.silenced(now() - interval '${hours} hours') order by at desc, account, id`,
  shows: 'When, What, Rule:thing, Who, Episode',
  cells: {
    What: ({ what, fields }) => `${state(what)} ${(fields ?? []).join(', ')}`.trim(),
    Who: or('who', 'unknown'),
    Episode: ({ when, began, ended, while_firing }) =>
      `began ${plain(began)} ${
        while_firing
          ? `had been firing for ${plain({ ms: when - began })}`
          : `had ended ${plain({ ms: when - ended })} before`
      }${ended ? '' : ', still firing'}`,
  },
  csv: 'when, what, rule, id, account, who, began, ended',
  filters: OF_ACCOUNT,
})

const NEVER: Listed = {
  at: '/firing/never | Rules that never fired, by id',
  sql: `
    select name as rule, name, id, account, folder_id as folder, team, first_seen as "first seen",
      ${growing('days_observed * 86400000')} as "observed for", updater_name as "last edited by"
    from ferry.rules_never_fired(null) order by id, account`,
  shows: 'Rule:thing, Folder, Team, First seen, Observed for, Last edited by',
  cells: { Folder: ({ folder }, query) => link(folder, '/firing/never', { ...query, folder }) },
  csv: 'rule, id, account, folder, team, first seen, observed for, last edited by',
  filters: { ...OF_ACCOUNT, folder: 'max(folder)' },
}

const LOAD: Listed = {
  at: '/firing/load?account=branch | Busiest minutes of this week',
  sql: `select minute, evaluations from ferry.cron_load(null, 10, 'branch') order by rank`,
  shows: 'Minute, Evaluations',
}

export const FIRING_LISTS: readonly Listed[] = [
  ...[firedIn(24), firedIn(72), LONGEST, noisyIn(168, '7 days'), noisyIn(24, '24 hours')],
  ...[silencedIn(168, '7 days'), silencedIn(24, '24 hours'), NEVER, LOAD],
]
