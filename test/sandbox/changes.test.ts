import { expect, test, vi } from 'vitest'
import { wireJson } from '#src/sandbox/json.ts'
import { WORKING_DAY } from '#src/sandbox/mutate.ts'
import { DEFAULT_OPTIONS } from '#src/sandbox/options.ts'
import { openChanges } from '#src/sandbox/sandbox.ts'
import { SandboxState } from '#src/sandbox/state.ts'

test('one thing changes at a time, and in the long run there are about as many', () => {
  vi.useFakeTimers()
  try {
    const sandbox = { state: new SandboxState({ ...DEFAULT_OPTIONS, limits: {} }), reset() {} }
    const snapshot = () =>
      [...sandbox.state.rules.rows(), ...sandbox.state.servers.rows()].map(row => wireJson(row))
    const differing = (before: readonly string[]) => snapshot().filter(row => !before.includes(row)).length
    const before = snapshot()
    using _changes = openChanges(sandbox, 30_000)
    vi.advanceTimersByTime(29_999)
    expect(differing(before)).toBe(0)
    vi.advanceTimersByTime(1)
    expect(differing(before)).toBe(1)

    vi.advanceTimersByTime(30_000 * WORKING_DAY.length * 20)
    const { rules, servers } = sandbox.state
    expect([rules.size, servers.size]).toEqual(
      [40, 25].map(size => expect.toSatisfy(n => Math.abs(n - size) <= 1)),
    )
    expect(differing(before)).toBeGreaterThan(50)
  } finally {
    vi.useRealTimers()
  }
})

test('nothing changes once it has ended', () => {
  vi.useFakeTimers()
  try {
    const sandbox = { state: new SandboxState({ ...DEFAULT_OPTIONS, limits: {} }), reset() {} }
    openChanges(sandbox, 1_000)[Symbol.dispose]()
    const mutate = vi.spyOn(sandbox.state, 'mutate')
    vi.advanceTimersByTime(10_000)
    expect(mutate).not.toHaveBeenCalled()
  } finally {
    vi.useRealTimers()
  }
})
