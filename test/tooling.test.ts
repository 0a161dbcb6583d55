import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { parse } from 'yaml'

/* The files that tools read agree with each other. */

const manifest: {
  engines: { node: string }
  optionalDependencies: Record<string, string>
} = JSON.parse(read('package.json'))

test('.nvmrc, package.json and the Dockerfile name the same major version of Node', () => {
  const major = read('.nvmrc').trim()
  expect(manifest.engines.node).toBe(`>=${major}`)
  const pinned = Object.entries(manifest.optionalDependencies).filter(([name]) => name.startsWith('node-'))
  expect(pinned.length).toBeGreaterThan(3)
  for (const [, version] of pinned) expect(version.split('.')[0]).toBe(major)
  const images = [...read('Dockerfile').matchAll(/^FROM node:(\d+)/gm)].map(([, version]) => version)
  expect(new Set(images)).toEqual(new Set([major]))
})

test('.editorconfig says what the formatter does', () => {
  const { formatter } = JSON.parse(read('biome.json'))
  const everywhere = Object.fromEntries(
    [...(read('.editorconfig').split('[*.md]')[0] ?? '').matchAll(/^(\w+) = (\w+)$/gm)].map(
      ([, name, value]) => [name, value],
    ),
  )
  expect(everywhere).toMatchObject({
    indent_style: formatter.indentStyle,
    indent_size: `${formatter.indentWidth}`,
    max_line_length: `${formatter.lineWidth}`,
  })
})

test('the hosted CI runs .ci/run and nothing else, on the Node of .nvmrc', () => {
  const { jobs } = parse(read('.github/workflows/ci.yml'))
  const steps: { run?: string; with?: Record<string, string> }[] = jobs.check.steps
  expect(steps.flatMap(step => step.run ?? [])).toEqual(['.ci/run'])
  const [file] = steps.flatMap(step => step.with?.['node-version-file'] ?? [])
  expect(existsSync(pathOf(file ?? ''))).toBe(true)
  const seconds = Number(/WITHIN_SECONDS=(\d+)/.exec(read('.ci/run'))?.[1])
  expect(jobs.check['timeout-minutes'] * 60).toBeGreaterThan(seconds)
})

function read(path: string): string {
  return readFileSync(pathOf(path), 'utf8')
}

function pathOf(path: string): string {
  return fileURLToPath(new URL(`../${path}`, import.meta.url))
}
