import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { DCLinter } from 'dclint'
import { validate } from 'dockerfile-utils'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { SETTINGS } from '#src/config/settings.ts'
import { shellCommandsOf } from './docs/pages.ts'

/* These tests read the files. They start no container. */

type Service = {
  readonly user?: string
  readonly cap_drop?: readonly string[]
  readonly cap_add?: readonly string[]
  readonly security_opt?: readonly string[]
  readonly image: string
  readonly build?: string
  readonly command?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly healthcheck?: { readonly test?: readonly string[]; readonly disable?: boolean }
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>
  readonly stop_grace_period?: string
  readonly container_name?: string
  readonly ports?: unknown
  readonly volumes?: readonly string[]
  readonly secrets?: readonly string[]
}

const COMPOSE_FILE = fileURLToPath(new URL('../docker-compose.yml', import.meta.url))
const compose: { services: Record<string, Service>; secrets: object } = parse(
  readFileSync(COMPOSE_FILE, 'utf8'),
  {
    merge: true,
  },
)
const { services } = compose

test('the compose file matches the published compose schema', () => {
  const linter = new DCLinter({ rules: {}, quiet: true, debug: false, exclude: [] })
  const files: { messages: { type: string }[] }[] = linter.lintFiles([COMPOSE_FILE], false)
  const messages = files.flatMap(file => file.messages)
  expect(messages.filter(message => message.type === 'error')).toEqual([])
})

test('the Dockerfile has no error that a builder would refuse', () => {
  expect(validate(read('Dockerfile'))).toEqual([])
})

test('the build context has every file that the image copies, and no other', () => {
  const copied = [...read('Dockerfile').matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, from = '']) =>
    from.split(' '),
  )
  const allowed = [...read('.dockerignore').matchAll(/^!(.+)$/gm)].map(([, path]) => path)
  expect(new Set(copied)).toEqual(new Set(allowed))
})

test('every service that keeps running has a health check', () => {
  const inImage = /^HEALTHCHECK /m.test(read('Dockerfile'))
  const silent = Object.entries(services).filter(
    ([, { build, healthcheck }]) => !healthcheck?.test && !(build && inImage) && !healthcheck?.disable,
  )
  const excused = Object.entries(services).filter(([, { healthcheck }]) => healthcheck?.disable)
  expect(silent.map(([name]) => name)).toEqual([])
  expect(excused.map(([name]) => name)).toEqual(['migrate'])
})

test('a worker starts after the migrations, and has time to drain', () => {
  expect(services.worker?.depends_on).toEqual({
    postgres: { condition: 'service_healthy' },
    redis: { condition: 'service_healthy' },
    migrate: { condition: 'service_completed_successfully' },
  })
  expect(Number.parseInt(services.worker?.stop_grace_period ?? '', 10)).toBeGreaterThan(30)
})

test('the worker can be scaled: its service has no fixed name and no port', () => {
  expect(services.worker).not.toHaveProperty('container_name')
  expect(services.worker).not.toHaveProperty('ports')
})

test('signals reach node: no npm, npx or shell is in between', () => {
  for (const name of ['worker', 'migrate']) {
    expect(services[name]?.command?.slice(0, 2)).toEqual(['node', '--disable-sigusr1'])
    expect(services[name]?.command?.slice(-2)).toEqual(['src/cli/ferry.ts', name])
  }
  expect(read('Dockerfile')).toContain(
    'CMD ["node", "--disable-sigusr1", "--max-semi-space-size=2", "src/cli/ferry.ts", "worker"]',
  )
})

test('Redis removes no job and writes its data to disk', () => {
  const command = services.redis?.command?.join(' ')
  expect(command).toContain('--maxmemory-policy noeviction')
  expect(command).toContain('--appendonly yes')
})

test('every service gives up the rights that it does not need', () => {
  const added = Object.entries(services).flatMap(([name, { cap_add }]) => (cap_add ? [name] : []))
  expect(added).toEqual(['postgres'])
  expect(services.postgres?.cap_add).toEqual(['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'SETGID', 'SETUID'])
  for (const [name, { cap_drop, security_opt }] of Object.entries(services)) {
    expect([name, cap_drop, security_opt]).toEqual([name, ['ALL'], ['no-new-privileges:true']])
  }
})

test('an image of somebody else is the same tomorrow: each has a tag to read and a digest', () => {
  const stages = [...read('Dockerfile').matchAll(/^FROM (\S+)(?: AS (\S+))?/gm)]
  const names = new Set(stages.map(([, , name]) => name))
  const bases = stages.flatMap(([, image = '']) => (names.has(image) ? [] : [image]))
  const images = Object.values(services).flatMap(({ image, build }) => (build ? [] : [image]))
  expect(images.length).toBeGreaterThan(2)
  for (const image of [...bases, ...images]) expect(image).toMatch(/^[a-z/]+:[\w.-]+@sha256:[0-9a-f]{64}$/)
  expect(new Set(bases).size).toBe(1)
})

test('Redis wants the password of its secret, which stands in no command line', () => {
  const [shell, , script = ''] = services.redis?.command ?? []
  expect(shell).toBe('sh')
  expect(script).toMatch(
    /^exec redis-server - [^$]*<<EOF\nrequirepass \$\$\(cat \/run\/secrets\/redis_password\)\nEOF\n$/,
  )
  expect(services.redis?.healthcheck?.test?.join(' ')).toContain(
    'REDISCLI_AUTH=$$(cat /run/secrets/redis_password)',
  )
  expect(services.worker?.environment?.REDIS_PASSWORD_FILE).toBe('/run/secrets/redis_password')
  for (const name of ['redis', 'worker', 'migrate'])
    expect(services[name]?.secrets).toContain('redis_password')
})

test('secrets are files, never environment variables of a container', () => {
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

test('Ferry knows every setting in the compose file', () => {
  const known = SETTINGS.map(setting => setting.name)
  for (const name of ['worker', 'migrate']) {
    expect(known).toEqual(expect.arrayContaining(Object.keys(services[name]?.environment ?? {})))
  }
})

test('the steps in the compose file are those of docs/operators.md', () => {
  const steps = [...read('docker-compose.yml').matchAll(/^# {3}(\S.*)$/gm)].map(([, step]) => step)
  expect(steps.length).toBeGreaterThan(3)
  expect(shellCommandsOf(read('docs/operators.md'))).toEqual(expect.arrayContaining(steps))
})

test('Grafana starts only with its profile, for this machine only, and gets what provisions it', () => {
  expect(services.grafana).toMatchObject({
    profiles: ['grafana'],
    ports: [expect.stringMatching(/^127\.0\.0\.1:/)],
  })
  const mounted =
    services.grafana?.volumes?.flatMap(volume => /^\.\/(.*):.*:ro$/.exec(volume)?.[1] ?? []) ?? []
  expect(mounted.length).toBe(2)
  for (const path of mounted) {
    expect(existsSync(fileURLToPath(new URL(`../${path}`, import.meta.url)))).toBe(true)
  }
  const provider = parse(read('integrations/grafana/provisioning/dashboards/ferry.yaml')).providers[0]
  expect(services.grafana?.volumes).toContain(`./integrations/grafana/dashboards:${provider.options.path}:ro`)
  const source = parse(read('integrations/grafana/provisioning/datasources/ferry.yaml')).datasources[0]
  const [, secret] = /^\$__file\{\/run\/secrets\/(\w+)\}$/.exec(source.secureJsonData.password) ?? []
  expect(services.grafana?.secrets).toContain(secret)
})

function read(path: string): string {
  return readFileSync(fileURLToPath(new URL(`../${path}`, import.meta.url)), 'utf8')
}
