import { describe, expect, test } from 'vitest'
import { oldHistory } from '#src/inventory/old-rows.ts'
import type { ReportArguments } from '#src/reports/catalogue.ts'
import { removeOld } from '#test/support/prune.ts'
import { openTestStore, type TestStore } from '#test/support/store.ts'
import { ask } from './ask.ts'
import * as alerts from './oracle/alert-models.ts'
import * as changes from './oracle/change-models.ts'
import { expectOrder, isInterval } from './oracle/order.ts'
import { isAt, keptSince, type Seen, seenIn } from './oracle/seen.ts'
import * as servers from './oracle/server-models.ts'
import { storeHistory } from './oracle/store-history.ts'
import * as times from './oracle/time-models.ts'
import { type AccountHistory, DAY_MS, historyOf } from './oracle/world.ts'

/*
 * Ten random histories of two accounts that share ids. What each report shows is computed from what happened, by a model that
 * shares no SQL with Ferry, and compared with its rows. Three histories are pruned.
 */

/** Open spans last while the test runs. */
const ABOUT_A_MINUTE = 60_000

describe.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])('history %i', seed => {
  test('every report shows what its comment says of it', async () => {
    await using store = await openTestStore()
    const nowMs = Date.now()
    const histories = [historyOf('a', seed * 2, nowMs), historyOf('b', seed * 2 + 1, nowMs)]
    const whole = histories.map(seenIn)
    for (const [n, history] of histories.entries()) await storeHistory(store.pool, history, whole[n] as Seen)
    const all: Seen = {
      rules: whole.flatMap(one => one.rules),
      servers: whole.flatMap(one => one.servers),
      episodes: whole.flatMap(one => one.episodes),
    }
    const keepMs = seed % 3 === 0 ? 5 * DAY_MS : null
    for (const old of oldHistory(store.pool, keepMs)) await removeOld(old)
    const { rows: start } = await store.pool.query<{ ms: number }>(
      `select coalesce(extract(epoch from nullif(ferry.history_start(), '-infinity')) * 1000, 0)::float8 as ms`,
    )
    // A Date has no microseconds: what is asked for must not be earlier.
    const startMs = Math.ceil(start[0]?.ms ?? 0)
    expect(startMs > 0).toBe(keepMs !== null)
    // The snapshots of that time go with the versions.
    const kept = histories.map(one => ({
      ...one,
      snapshots: one.snapshots.filter(({ atMs }) => atMs >= startMs),
    }))
    await compareAll(store, kept, keptSince(all, startMs), startMs)
  })
})

async function compareAll(store: TestStore, histories: AccountHistory[], seen: Seen, startMs: number) {
  const nowMs = Date.now()
  const same = async (
    report: string,
    columns: string,
    given: ReportArguments,
    wanted: readonly alerts.Row[],
  ) => {
    const shown = await ask(store, report, columns, given)
    expect(sorted(shown), report).toEqual(sorted(wanted).map(row => row.map(roughly)))
    expectOrder(report, columns, shown)
  }
  const zoneOf = (timezone: string | null) =>
    timezone === null || ['', 'CST', 'UTC+8'].includes(timezone) ? 'Asia/Shanghai' : timezone

  for (const account of [undefined, 'a', 'b']) {
    const only = account === undefined ? {} : { account }
    const never = alerts.neverFired(seen, nowMs, startMs, account ?? null)
    await same('rules_never_fired', 'account id name first_seen days_observed', only, never)
  }
  await same(
    'rules_switched_off',
    'account id name since switch_seen updater_name',
    {},
    alerts.switched(seen, startMs, of => !of.enabled),
  )
  await same(
    'rules_debug_left_on',
    'account id name since switch_seen updater_name',
    {},
    alerts.switched(seen, startMs, of => of.debug),
  )

  for (const days of [0.7, 3, 20]) {
    const sinceMs = Math.max(nowMs - days * DAY_MS, startMs)
    const since = { since: new Date(sinceMs) }
    await same(
      'time_to_clear',
      'account team episodes p50 p90 longest removed began_unseen',
      since,
      alerts.timeToClear(seen, sinceMs),
    )
    await same(
      'rules_noisy',
      'account id name team episodes hours flaps night_share last_began firing',
      since,
      alerts.noisy(seen, sinceMs, nowMs, zoneOf),
    )
    await same(
      'rules_longest_firing',
      'account id name fired_for',
      since,
      alerts.longestFiring(seen, sinceMs, nowMs).map(row => [...row.slice(0, 3), { intervalMs: row[3] }]),
    )
    await same(
      'silenced',
      'account at what id name folder_id team fields updater_name began ended while_firing',
      since,
      alerts.silenced(seen, sinceMs),
    )
    await same(
      'churn_by_folder',
      'account folder_id added changed removed returned changes rules_now first_read',
      since,
      changes.churn(seen, sinceMs),
    )
    await same(
      'editors',
      'account folder_id updater_name edits share last_edit only_editor',
      since,
      changes.editors(seen, sinceMs),
    )
    const edits = await store.pool.query({
      text: 'select account, id::text, folder_id::text, updater_id::text, edited_at from ferry_internal.rule_edits($1)',
      values: [since.since],
      rowMode: 'array',
    })
    expect(sorted(edits.rows), 'rule_edits').toEqual(
      sorted(
        changes
          .ruleEdits(seen, sinceMs)
          .map(row => row.map(cell => (typeof cell === 'bigint' ? `${cell}` : cell))),
      ),
    )
    const mass = await store.pool.query({
      text: 'select account, updater_name, began, ended, rules, edits, folders from ferry.mass_edits($1, 2)',
      values: [since.since],
      rowMode: 'array',
    })
    expect(sorted(mass.rows), 'mass_edits').toEqual(sorted(changes.massEdits(seen, sinceMs, 2)))
    await same(
      'mcp_tool_changes',
      'account observed_at server_id server_name change tool before after',
      since,
      servers.toolChanges(seen, sinceMs),
    )
    await compareBetween(store, seen, sinceMs, nowMs)
    await compareBetween(store, seen, nowMs - DAY_MS / 2, sinceMs)
    await compareTimes(store, histories, nowMs - days * DAY_MS)
  }
  const now = alerts.rulesAt(seen, () => Number.MAX_SAFE_INTEGER)
  const folders = 'account folder_id rules enabled disabled firing debug_log_enabled unowned'
  const teams = 'account team rules enabled disabled firing debug_log_enabled folders'
  await same('rules_by_folder', folders, {}, alerts.ruleCounts(now, 'folder'))
  await same('rules_by_team', teams, {}, alerts.ruleCounts(now, 'team'))
  await same('rules_unowned', 'account folder_id id name', {}, alerts.unowned(now))
  const current = seen.servers.filter(one => one.toMs === null)
  await same(
    'mcp_tools',
    'account tool server_id server_name description servers',
    {},
    servers.tools(current),
  )
  await same(
    'mcp_by_team',
    'account team_id servers enabled tools shared last_change',
    {},
    servers.byTeam(current),
  )
  await same('mcp_risk', 'account server_id reason tool', {}, servers.risks(current))

  // A night that both accounts have, or one.
  const takenAt = histories.map(one => times.nights(one, startMs, nowMs))
  for (const night of new Set(
    takenAt
      .flat()
      .filter(row => row[3] !== null && (row[3] as Date).getTime() >= startMs)
      .map(row => row[1] as string),
  )) {
    const atMsOf = (account: string) => {
      const row = takenAt.flat().find(one => one[0] === account && one[1] === night)
      return (row?.[3] as Date | null | undefined)?.getTime() ?? null
    }
    const then = alerts.rulesAt(seen, atMsOf)
    await same('rules_by_folder', folders, { night }, alerts.ruleCounts(then, 'folder'))
    await same('rules_by_team', teams, { night }, alerts.ruleCounts(then, 'team'))
    await same('rules_unowned', 'account folder_id id name', { night }, alerts.unowned(then))
    const thenServers = seen.servers.filter(
      one => atMsOf(one.account) !== null && isAt(one, atMsOf(one.account) as number),
    )
    await same(
      'mcp_tools',
      'account tool server_id server_name description servers',
      { night },
      servers.tools(thenServers),
    )
    await same(
      'mcp_by_team',
      'account team_id servers enabled tools shared last_change',
      { night },
      servers.byTeam(thenServers),
    )
  }
}

async function compareBetween(store: TestStore, seen: Seen, aMs: number, bMs: number) {
  const { rows } = await store.pool.query(
    `select account, inventory, change, id, name, first_reading, folder_id::text, updater_name, before
     from ferry.changes_between($1, $2)`,
    [new Date(aMs), new Date(bMs)],
  )
  const shown = rows.map(row => [
    row.account,
    row.inventory,
    row.change,
    row.id,
    row.name,
    row.first_reading,
    row.folder_id && BigInt(row.folder_id),
    row.updater_name,
    row.inventory === 'mcp-servers' ? 'any' : row.before && Object.keys(row.before).toSorted().join(' '),
  ])
  expect(sorted(shown), 'changes_between').toEqual(sorted(changes.changesBetween(seen, aMs, bMs)))
}

async function compareTimes(store: TestStore, histories: readonly AccountHistory[], sinceMs: number) {
  const nowMs = Date.now()
  const since = { since: new Date(sinceMs) }
  const ofRules = (rows: unknown[][]) => rows.filter(row => row[1] === 'alert-rules')
  const spots = ofRules(
    await ask(store, 'blind_spots', 'account inventory from to late_from fresh_again_at error_code', since),
  )
  const at = (ms: number | null) => (ms === null ? null : new Date(ms))
  expect(sorted(spots), 'blind_spots').toEqual(
    sorted(
      histories.flatMap(one =>
        times
          .blindSpotsOf(one, sinceMs, nowMs)
          .map(s => [
            one.account,
            'alert-rules',
            at(s.fromMs),
            at(s.toMs),
            at(s.lateMs),
            at(s.freshMs),
            s.error,
          ]),
      ),
    ),
  )
  const daily = ofRules(await ask(store, 'freshness_daily', 'account inventory day share', since))
  expect(sorted(daily.map(([account, , ...row]) => [account, ...row])), 'freshness_daily').toEqual(
    sorted(histories.flatMap(one => times.freshnessDaily(one, sinceMs, nowMs))).map(row =>
      row.map(cell => (typeof cell === 'number' ? expect.closeTo(cell, 2) : cell)),
    ),
  )
  const fresh = ofRules(await ask(store, 'freshness', 'account inventory state why_late'))
  expect(
    fresh.map(([account, , ...row]) => [account, ...row]),
    'freshness',
  ).toEqual(histories.map(one => times.freshness(one, nowMs)))
  expect(sorted(await ask(store, 'nights', 'account night status taken_at', since)), 'nights').toEqual(
    sorted(histories.flatMap(one => times.nights(one, sinceMs, nowMs))),
  )
}

/** In one order, whatever a report's own is. */
function sorted(rows: readonly alerts.Row[]): alerts.Row[] {
  const key = (row: alerts.Row) =>
    row
      .map(cell =>
        typeof cell === 'number' || isInterval(cell)
          ? ''
          : `${cell instanceof Date ? cell.toISOString() : cell}`,
      )
      .join('\t')
  return rows.toSorted((a, b) => (key(a) < key(b) ? -1 : 1))
}

/** What lasts until now was asked for a moment earlier. */
function roughly(cell: unknown): unknown {
  if (isInterval(cell))
    return { intervalMs: expect.toSatisfy(ms => Math.abs(ms - cell.intervalMs) < ABOUT_A_MINUTE) }
  if (typeof cell === 'number' && !Number.isInteger(cell))
    return expect.toSatisfy(value => Math.abs(value - cell) < 0.02)
  return cell
}
