import { writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { readConfig } from '#src/config.ts'
import { fileHolding } from '#test/support/settings.ts'
import { waitFor } from '#test/support/wait-for.ts'
import { bearing } from './console/console-harness.ts'
import { ask, openTestHttp } from './http-harness.ts'

/** In each of them two requests may come too late with the old token: an address may send ten. */
const PHASES = 3
const REQUESTS = 50

test('tokens are rotated in their files while requests come: the new one counts from the next request on, the old one no more', async () => {
  const tokenOf = (phase: number, of: string) => `${of}-${phase}-`.padEnd(24, 'x')
  const files = { FERRY_CONSOLE_TOKEN: fileHolding(''), FERRY_METRICS_TOKEN: fileHolding('') }
  const rotate = (phase: number) => {
    for (const [of, path] of Object.entries(files)) writeFileSync(path, `${tokenOf(phase, of)}\n`)
  }
  rotate(0)
  const { http: settings } = readConfig({
    FERRY_CONSOLE_TOKEN_FILE: files.FERRY_CONSOLE_TOKEN,
    FERRY_METRICS_TOKEN_FILE: files.FERRY_METRICS_TOKEN,
  })
  await using http = await openTestHttp({
    console: { operate: settings.console.operateToken, read: settings.console.readToken },
    metricsToken: settings.metricsToken,
  })
  const DOORS = [
    { path: '/metrics', of: 'FERRY_METRICS_TOKEN', opens: 200 },
    { path: '/sign-in', of: 'FERRY_CONSOLE_TOKEN', opens: 303 },
  ] as const
  const statusOf = async ({ path, of }: (typeof DOORS)[number], phase: number) =>
    (await ask(`${http.address}${path}`, { headers: bearing(tokenOf(phase, of)) })).status
  let current = 0
  let answered = 0
  let isOver = false
  /** Asks without a pause, each time with the token of that moment: only one that was rotated meanwhile may be refused. */
  const load = async (door: (typeof DOORS)[number]) => {
    while (!isOver) {
      const phase = current
      const status = await statusOf(door, phase)
      answered += 1
      if (phase === current) expect(status).toBe(door.opens)
    }
  }
  const loads = DOORS.map(load)
  for (let phase = 0; phase < PHASES; phase++) {
    const before = answered
    await waitFor(async () => answered >= before + REQUESTS, { what: 'requests' })
    rotate(phase + 1)
    current = phase + 1
    for (const door of DOORS) expect(await statusOf(door, current)).toBe(door.opens)
  }
  for (const door of DOORS) expect(await statusOf(door, PHASES - 1)).toBe(401)
  for (const path of Object.values(files)) writeFileSync(path, 'short')
  for (const door of DOORS) expect(await statusOf(door, PHASES)).toBe(door.opens)
  isOver = true
  await Promise.all(loads)
})
