import { expect, onTestFinished, test, vi } from 'vitest'
import { Waiting } from '#src/worker/waiting.ts'

/** A look at `waiting` some seconds after the test began. */
function openLooks() {
  const beganAtMs = performance.now()
  const now = vi.spyOn(performance, 'now')
  onTestFinished(() => now.mockRestore())
  const waiting = new Waiting<string>(name => name)
  return (seconds: number, ...names: string[]) => {
    now.mockReturnValue(beganAtMs + seconds * 1_000)
    return waiting.look(names)
  }
}

test('what waits is left to its wake-up for three seconds, then it is late at every look', () => {
  const look = openLooks()
  expect(look(0, 'a', 'b')).toEqual([])
  expect(look(2.9, 'a', 'b')).toEqual([])
  expect(look(3, 'a', 'b', 'new')).toEqual(['a', 'b'])
  expect(look(8, 'b', 'new')).toEqual(['b', 'new'])
})

test('what did not wait at a look was begun: if it waits again, its time begins anew', () => {
  const look = openLooks()
  look(0, 'a')
  look(2)
  expect(look(4, 'a')).toEqual([])
  expect(look(7, 'a')).toEqual(['a'])
})
