import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { DCLinter } from 'dclint'
import { validate } from 'dockerfile-utils'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { SETTINGS } from '#src/config/settings.ts'

/* No container is started here: what can be said of the files without an engine is said. */

type Service = {
  readonly image: string
  readonly build?: string
  readonly command?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly healthcheck?: { readonly test?: readonly string[]; readonly disable?: boolean }
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>
  readonly stop_grace_period?: string
  readonly container_name?: string
  readonly ports?: unknown
}

const COMPOSE_FILE = fileURLToPath(new URL('../docker-compose.yml', import.meta.url))
const compose: { services: Record<string, Service>; secrets: object } = parse(
  readFileSync(COMPOSE_FILE, 'utf8'),
  {
    merge: true,
  },
)
const { services } = compose

test('the compose file keeps to the published compose schema', () => {
  const linter = new DCLinter({ rules: {}, quiet: true, debug: false, exclude: [] })
  const files: { messages: { type: string }[] }[] = linter.lintFiles([COMPOSE_FILE], false)
  const messages = files.flatMap(file => file.messages)
  expect(messages.filter(message => message.type === 'error')).toEqual([])
})

test('the Dockerfile has no mistake a builder would refuse', () => {
  expect(validate(read('Dockerfile'))).toEqual([])
})

test('the image is given every file it copies, and nothing else', () => {
  const copied = [...read('Dockerfile').matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, from = '']) =>
    from.split(' '),
  )
  const allowed = [...read('.dockerignore').matchAll(/^!(.+)$/gm)].map(([, path]) => path)
  expect(new Set(copied)).toEqual(new Set(allowed))
})

test('every service that stays up says whether it is well', () => {
  const inImage = /^HEALTHCHECK /m.test(read('Dockerfile'))
  const silent = Object.entries(services).filter(
    ([, { build, healthcheck }]) => !healthcheck?.test && !(build && inImage) && !healthcheck?.disable,
  )
  const excused = Object.entries(services).filter(([, { healthcheck }]) => healthcheck?.disable)
  expect(silent.map(([name]) => name)).toEqual([])
  expect(excused.map(([name]) => name)).toEqual(['migrate'])
})

test('a worker starts after the migrations, and has time to drain when it is told to stop', () => {
  expect(services.worker?.depends_on).toEqual({
    postgres: { condition: 'service_healthy' },
    redis: { condition: 'service_healthy' },
    migrate: { condition: 'service_completed_successfully' },
  })
  expect(Number.parseInt(services.worker?.stop_grace_period ?? '', 10)).toBeGreaterThan(30)
})

test('workers can be many: nothing in their service can exist only once', () => {
  expect(services.worker).not.toHaveProperty('container_name')
  expect(services.worker).not.toHaveProperty('ports')
})

test('signals reach node: no npm, npx or shell stands between', () => {
  for (const name of ['worker', 'migrate']) {
    expect(services[name]?.command?.[0]).toBe('node')
    expect(services[name]?.command?.slice(-2)).toEqual(['src/cli/ferry.ts', name])
  }
  expect(read('Dockerfile')).toContain(
    'CMD ["node", "--max-semi-space-size=2", "src/cli/ferry.ts", "worker"]',
  )
})

test('Redis throws no job away and writes what it holds to disk', () => {
  const command = services.redis?.command?.join(' ')
  expect(command).toContain('--maxmemory-policy noeviction')
  expect(command).toContain('--appendonly yes')
})

test('secrets are files: none is in the environment of a container', () => {
  const secrets = Object.keys(compose.secrets).map(name => `/run/secrets/${name}`)
  const variables = Object.values(services).flatMap(service => Object.entries(service.environment ?? {}))
  const secretive = variables.filter(([name]) => /KEY|PASSWORD/.test(name))
  expect(secretive.length).toBeGreaterThan(0)
  for (const [name, value] of secretive) {
    expect(name).toMatch(/_FILE$/)
    expect(secrets).toContain(value)
  }
  for (const [, value] of variables) expect(value).not.toMatch(/:\/\/[^/@]*:[^/@]*@/)
})

test('every setting of Ferry that the compose file gives is one that Ferry knows', () => {
  const known = SETTINGS.map(setting => setting.name)
  for (const name of ['worker', 'migrate']) {
    expect(known).toEqual(expect.arrayContaining(Object.keys(services[name]?.environment ?? {})))
  }
})

function read(path: string): string {
  return readFileSync(fileURLToPath(new URL(`../${path}`, import.meta.url)), 'utf8')
}
