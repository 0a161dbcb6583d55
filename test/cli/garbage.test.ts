import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks'
import { expect, test } from 'vitest'
import { collectGarbageLater } from '#src/cli/garbage.ts'

test('what starting left behind is collected, unless it is disposed of before', async () => {
  using collections = countCollections()
  const disposed = collectGarbageLater(1)
  disposed[Symbol.dispose]()
  using _later = collectGarbageLater(20)
  await expect.poll(collections.count, { interval: 5 }).toBeGreaterThan(0)
})

test('garbage is collected again when it is asked for again', async () => {
  using collections = countCollections()
  using later = collectGarbageLater(20)
  await expect.poll(collections.count, { interval: 5 }).toBeGreaterThan(0)
  const before = collections.count()
  later.again()
  await expect.poll(collections.count, { interval: 5 }).toBeGreaterThan(before)
})

/** Counts how often the whole heap was collected in this process. */
function countCollections() {
  let count = 0
  const observer = new PerformanceObserver(list => {
    count += list.getEntries().filter(isWhole).length
  })
  observer.observe({ entryTypes: ['gc'] })
  return { count: () => count, [Symbol.dispose]: () => observer.disconnect() }
}

function isWhole(entry: PerformanceEntry & { readonly detail?: { readonly kind: number } }): boolean {
  return entry.detail?.kind === constants.NODE_PERFORMANCE_GC_MAJOR
}
