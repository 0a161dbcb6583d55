import { writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { readConfig } from '#src/config.ts'
import { fileHolding } from '#test/support/settings.ts'
import { bearing } from './console/console-harness.ts'
import { ask, openTestHttp } from './http-harness.ts'

const PHASES = 4
const AT_ONCE = 20

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
  const answers = (phase: number, times: number) =>
    Promise.all(
      Array.from({ length: times }, async () => {
        const metrics = await ask(`${http.address}/metrics`, {
          headers: bearing(tokenOf(phase, 'FERRY_METRICS_TOKEN')),
        })
        const signedIn = await ask(`${http.address}/sign-in`, {
          headers: bearing(tokenOf(phase, 'FERRY_CONSOLE_TOKEN')),
        })
        return `${metrics.status} ${signedIn.status}`
      }),
    )
  for (let phase = 0; phase < PHASES; phase++) {
    const before = answers(phase, AT_ONCE)
    expect(new Set(await before)).toEqual(new Set(['200 303']))
    rotate(phase + 1)
    expect(await answers(phase + 1, 1)).toEqual(['200 303'])
    expect(await answers(phase, 1)).toEqual(['401 401'])
  }
  for (const path of Object.values(files)) writeFileSync(path, 'short')
  expect(await answers(PHASES, 1)).toEqual(['200 303'])
})
