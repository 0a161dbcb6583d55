import { expect, test } from 'vitest'
import { openFerryHarness } from '#test/support/ferry-harness.ts'
import { makeFingerprintsOld } from '#test/support/runs.ts'
import { spoilFingerprints } from '#test/support/versions.ts'
import { currentIds, restarted, rules, syncListed, upTo } from './scripted-account.ts'

/*
 * Data that the last run applied is not compared again. Each test makes what is stored differ from it, so that a run
 * that compares says so, and one that does not says nothing has changed.
 */

const SMALL = { rules: 0, servers: 0 }
const LISTED = rules(upTo(5))

test('the same data, seen in the same way, is not compared again', async () => {
  await using harness = await openFerryHarness(SMALL)
  await syncListed(harness, [LISTED])
  await spoilFingerprints(harness.ferry.pool)
  expect(await syncListed(harness, [LISTED])).toMatchObject({ seen: 5, unchanged: 5, changed: 0 })
  // Nor is it by the run after one that did not compare. A worker that knows no rows finds changes, and forgets them.
  expect(await syncListed(restarted(harness), [LISTED])).toMatchObject({ seen: 5, unchanged: 5, changed: 0 })
  expect(await harness.query('select id from ferry.alert_rule_versions')).toHaveLength(5)
})

const SEEN_OTHERWISE: Readonly<Record<string, Parameters<typeof syncListed>[2]>> = {
  'another key': { keyHash: 'another' },
  'other folders': { folders: [1n] },
  'removals accepted, which the guard decided before': { acceptRemovals: true },
}

for (const [how, request] of Object.entries(SEEN_OTHERWISE)) {
  test(`the same data is compared again with ${how}`, async () => {
    await using harness = await openFerryHarness(SMALL)
    await syncListed(harness, [LISTED])
    await spoilFingerprints(harness.ferry.pool)
    expect(await syncListed(restarted(harness), [LISTED], request)).toMatchObject({ seen: 5, changed: 5 })
  })
}

test('the same data is compared again by a version of Ferry that makes fingerprints otherwise', async () => {
  await using harness = await openFerryHarness(SMALL)
  await syncListed(harness, [LISTED])
  await makeFingerprintsOld(harness.ferry.pool)
  await spoilFingerprints(harness.ferry.pool)
  expect(await syncListed(restarted(harness), [LISTED])).toMatchObject({ changed: 5 })
})

test('data that comes back to what it was once is compared with what is stored now', async () => {
  await using harness = await openFerryHarness(SMALL)
  const renamed = LISTED.map(rule => ({ ...rule, name: 'renamed' }))
  await syncListed(harness, [LISTED])
  await syncListed(harness, [renamed])
  expect(await syncListed(harness, [LISTED])).toMatchObject({ changed: 5 })
})

test('of several folders, one that is the same does not stand for the others', async () => {
  await using harness = await openFerryHarness(SMALL)
  const inTwo = [...LISTED, ...rules([31, 32], { folder: 2n })]
  const folders = { folders: [1n, 2n] }
  await syncListed(harness, [inTwo], folders)
  for (const changedFolder of [1n, 2n]) {
    const renamed = inTwo.map(rule => (rule.folder === changedFolder ? { ...rule, name: 'renamed' } : rule))
    const changed = changedFolder === 1n ? 5 : 2
    expect(await syncListed(harness, [renamed], folders)).toMatchObject({ seen: 7, changed })
    expect(await syncListed(harness, [inTwo], folders)).toMatchObject({ seen: 7, changed })
  }
})

test('a run that failed or applied nothing in between does not stand in the way of trust', async () => {
  await using harness = await openFerryHarness(SMALL)
  await syncListed(harness, [LISTED])
  harness.sandbox.state.inject({ kind: 'error', code: 'AccessDenied' })
  expect(await harness.sync()).toMatchObject({ status: 'failed' })
  await spoilFingerprints(harness.ferry.pool)
  expect(await syncListed(harness, [LISTED])).toMatchObject({ unchanged: 5, changed: 0 })
})

test('what one account has applied another has not', async () => {
  await using harness = await openFerryHarness(SMALL)
  await syncListed(harness, [LISTED], { account: 'one' })
  expect(await syncListed(harness, [LISTED], { account: 'two' })).toMatchObject({ added: 5 })
  expect(await currentIds(harness, 'two')).toEqual(upTo(5))
})

test('removals that wait, and rows kept in a new scope, are looked at again though the data is the same', async () => {
  await using harness = await openFerryHarness(SMALL)
  await syncListed(harness, [rules(upTo(20))])
  expect(await syncListed(harness, [LISTED])).toMatchObject({ status: 'held' })
  expect(await syncListed(harness, [LISTED])).toMatchObject({ status: 'held', requests: 2 })
  const other = { keyHash: 'another' }
  expect(await syncListed(harness, [rules(upTo(19))], other)).toMatchObject({
    status: 'succeeded',
    removed: 0,
  })
  expect(await syncListed(harness, [rules(upTo(19))], other)).toMatchObject({ status: 'held', requests: 2 })
})
