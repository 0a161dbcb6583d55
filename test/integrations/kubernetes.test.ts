import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { readConfig } from '#src/config.ts'
import { readPage, sectionOf } from '#test/docs/pages.ts'
import { documentsOf, hasProgram, integration, readIntegration, unknownSettings } from './files.ts'

/* The manifests, against the published schemas of Kubernetes. No cluster is needed. */

type Container = {
  readonly image: string
  readonly command: readonly string[]
  readonly env: readonly { readonly name: string; readonly value: string }[]
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[]
  readonly resources: { readonly requests: { memory: string }; readonly limits: { memory: string } }
} & Readonly<Record<string, { readonly httpGet?: { readonly path: string; readonly port: string } }>>

type PodTemplate = {
  readonly metadata: { readonly labels: object }
  readonly spec: {
    readonly containers: readonly Container[]
    readonly terminationGracePeriodSeconds?: number
  }
}

type Manifest = {
  readonly apiVersion: string
  readonly kind: string
  readonly data?: Readonly<Record<string, string>>
  readonly stringData?: Readonly<Record<string, string>>
  readonly spec: {
    readonly template: PodTemplate
    readonly selector: { readonly matchLabels: object }
    readonly podSelector?: { readonly matchLabels: object }
    readonly policyTypes?: readonly string[]
    readonly ingress?: readonly object[]
    readonly egress?: readonly object[]
  }
}

const FILES = readdirSync(integration('kubernetes')).filter(file => file !== 'kustomization.yaml')
const manifests = documentsOf<Manifest>(...FILES.map(file => readIntegration(`kubernetes/${file}`)))
const [kustomization] = documentsOf<{ resources: string[]; images: Record<string, string>[] }>(
  readIntegration('kubernetes/kustomization.yaml'),
)
const deployment = one('Deployment').spec
const job = one('Job').spec
const worker = deployment.template.spec.containers[0]!
const migrate = job.template.spec.containers[0]!

test('every manifest matches the published schema of its kind', async () => {
  expect(manifests.length).toBeGreaterThan(5)
  for (const manifest of manifests) await validate(manifest)
  const broken = { ...one('Deployment'), spec: { ...deployment, replicas: 'two' } }
  await expect(validate(broken)).rejects.toThrow('replicas')
})

test('kustomize takes every file but the example of the secret', () => {
  expect(kustomization?.resources.toSorted()).toEqual(
    FILES.filter(file => file !== 'secret.example.yaml').sort(),
  )
})

test.skipIf(!hasProgram('kubectl', 'version', '--client'))(
  'kubectl builds them, with the image of this version',
  () => {
    const { stdout, stderr } = spawnSync('kubectl', ['kustomize', integration('kubernetes')], {
      encoding: 'utf8',
    })
    expect(stderr).toBe('')
    const { version } = JSON.parse(readPage('package.json'))
    const images = [...stdout.matchAll(/image: (.*)/g)].map(([, image]) => image)
    expect(images).toEqual(Array(2).fill(`registry.example.com/ferry:${version}`))
  },
)

test('a worker is stopped in time to drain, and signals reach it: no shell is in between', () => {
  expect(deployment.template.spec.terminationGracePeriodSeconds).toBeGreaterThan(30)
  expect(worker.command).toEqual([
    'node',
    '--disable-sigusr1',
    '--max-semi-space-size=2',
    'src/cli/ferry.ts',
    'worker',
  ])
  expect(migrate.command).toEqual(['node', '--disable-sigusr1', 'src/cli/ferry.ts', 'migrate'])
})

test('the probes ask the port on which the worker answers', () => {
  expect(worker.livenessProbe?.httpGet).toEqual({ path: '/livez', port: 'http' })
  expect(worker.readinessProbe?.httpGet).toEqual({ path: '/readyz', port: 'http' })
  const port = worker.env.find(({ name }) => name === 'FERRY_HTTP_PORT')?.value
  expect(worker.ports).toEqual([{ name: 'http', containerPort: Number(port) }])
})

test('the Deployment and the PodDisruptionBudget mean the pods of workers, and not those of migrations', () => {
  const { labels } = deployment.template.metadata
  expect(deployment.selector.matchLabels).toEqual(labels)
  expect(one('PodDisruptionBudget').spec.selector.matchLabels).toEqual(labels)
  expect(job.template.metadata.labels).not.toEqual(labels)
})

test('only a namespace that is named may connect to pods of Ferry, and only to the port of workers', () => {
  const { podSelector, policyTypes, ingress, egress } = one('NetworkPolicy').spec
  for (const { template } of [deployment, job]) {
    expect(template.metadata.labels).toMatchObject(podSelector?.matchLabels ?? {})
  }
  expect(podSelector?.matchLabels).not.toEqual({})
  expect({ policyTypes, egress }).toEqual({ policyTypes: ['Ingress'], egress: undefined })
  expect(ingress).toEqual([
    {
      from: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } }],
      ports: [{ port: worker.ports?.[0]?.name, protocol: 'TCP' }],
    },
  ])
})

test('the memory is what docs/operators.md measured', () => {
  const memory = sectionOf(readPage('docs/operators.md'), 'More workers')
  const idle = Number(/an idle worker \| (\d+) MB/.exec(memory)?.[1])
  const most = Math.max(...[...memory.matchAll(/\| (\d+) MB \|/g)].map(([, mb]) => Number(mb)))
  const advised = Number(/Give a container (\d+) MB/.exec(memory)?.[1])
  expect(megabytes(worker.resources.requests.memory)).toBeGreaterThan(idle)
  expect(megabytes(worker.resources.limits.memory)).toBeGreaterThan(most)
  expect(worker.resources.limits.memory).toBe(`${advised}Mi`)
})

test('Ferry knows every setting, and each secret is a file of the example', () => {
  const settings = Object.keys(one('ConfigMap').data ?? {})
  const env = [...worker.env, ...migrate.env]
  expect(unknownSettings([...settings, ...env.map(({ name }) => name)])).toEqual([])
  expect(settings.filter(name => /KEY|PASSWORD/.test(name))).toEqual([])
  const secrets = env.filter(({ name }) => /KEY|PASSWORD/.test(name)).map(({ value }) => value)
  const files = Object.keys(one('Secret').stringData ?? {}).map(name => `/run/ferry/${name}`)
  expect([...new Set(secrets)].sort()).toEqual(files.sort())
})

test('pods get no variables of Services, which Ferry would refuse', () => {
  for (const { template } of [deployment, job]) {
    expect(template.spec).toMatchObject({ enableServiceLinks: false, automountServiceAccountToken: false })
  }
  expect(() => readConfig({ FERRY_PORT: 'tcp://10.0.0.1:8080' })).toThrow('FERRY_PORT')
})

test('pods are what the restricted profile of Kubernetes allows', () => {
  for (const { template } of [deployment, job]) {
    expect(template.spec).toMatchObject({
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [{ securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } } }],
    })
  }
})

function one(kind: string): Manifest {
  const [found, ...others] = manifests.filter(manifest => manifest.kind === kind)
  if (!found || others.length > 0) throw new Error(`there is not one ${kind}`)
  return found
}

/** Throws, with the path, if the manifest is not what the schema says. */
async function validate(manifest: object & Pick<Manifest, 'apiVersion' | 'kind'>): Promise<void> {
  const { apiVersion, kind } = manifest
  const models = await import(/* @vite-ignore */ `kubernetes-models/${apiVersion}/${kind}`)
  new models[kind](manifest).validate()
}

function megabytes(quantity: string): number {
  return (Number(/^(\d+)Mi$/.exec(quantity)?.[1]) * 1024 ** 2) / 1e6
}
