import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks'
import { expect, test } from 'vitest'
import { collectGarbageLater } from '#src/cli/garbage.ts'

test('what starting left behind is collected, unless it is disposed of before', async () => {
  const collected: unknown[] = []
  const observer = new PerformanceObserver(list => collected.push(...list.getEntries().filter(isWhole)))
  observer.observe({ entryTypes: ['gc'] })
  const disposed = collectGarbageLater(1)
  disposed[Symbol.dispose]()
  using _later = collectGarbageLater(20)
  await expect.poll(() => collected.length, { interval: 5 }).toBeGreaterThan(0)
  observer.disconnect()
})

function isWhole(entry: PerformanceEntry & { readonly detail?: { readonly kind: number } }): boolean {
  return entry.detail?.kind === constants.NODE_PERFORMANCE_GC_MAJOR
}
