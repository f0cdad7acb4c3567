import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { parseYaml } from '@redocly/openapi-core'
import { z } from 'zod'
import { temporaryFolder } from '../support/processes/folders.ts'
import { runPeer } from '../support/processes/peer.ts'

const KUSTOMIZE = 'sigs.k8s.io/kustomize/kustomize/v5@v5.7.1'
const VALIDATOR = 'kubernetes-validate==1.37.0'
const KUBERNETES = '1.34'
const KEDA = 'github.com/kedacore/keda/v2@v2.21.0'

const PAGE = 'docs/how-to/kubernetes.md'

const folder = temporaryFolder()
const run = promisify(execFile)

const HARDENED = [
  'runAsNonRoot: true',
  'readOnlyRootFilesystem: true',
  'allowPrivilegeEscalation: false',
  'automountServiceAccountToken: false',
]

type JsonSchema = Parameters<typeof z.fromJSONSchema>[0]

interface Built {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly data?: Readonly<Record<string, string>>
}

interface Trigger {
  readonly type: string
  readonly metadata: Readonly<Record<string, string>>
  readonly authenticationRef?: { readonly name: string }
}

interface Autoscaler extends Built {
  readonly spec: { readonly triggers: readonly Trigger[] }
}

interface Authentication extends Built {
  readonly spec: { readonly secretTargetRef: readonly { readonly parameter: string }[] }
}

/** The folder of a reader: the page's `kustomization.yaml`, beside a copy of the project. */
function readersFolder(name: string, components?: readonly string[]): string {
  const page = readFileSync(PAGE, 'utf8')
  const [, text = ''] = /```yaml\n# kustomization.yaml\n([\s\S]*?)```/.exec(page) ?? []
  const listed = components?.map(path => `  - ../agent-payments/${path}\n`).join('')
  const own = join(folder, name)
  mkdirSync(own)
  writeFileSync(
    join(own, 'kustomization.yaml'),
    listed ? text.replace(/(?<=^components:\n)(?: +-.*\n)+/m, listed) : text,
  )
  return own
}

const components = readdirSync('kubernetes', { recursive: true, encoding: 'utf8' })
  .filter(path => path.includes('/') && path.endsWith('kustomization.yaml'))
  .map(path => join('kubernetes', dirname(path)))
  .sort()

const build = (path: string): Promise<string> => runPeer('go', ['run', KUSTOMIZE, 'build', path], '')

const partsOf = (text: string): string[] => text.split(/^---\n/m)
const readAll = (text: string): Built[] => partsOf(text).map(part => parseYaml(part) as Built)

const only = <T extends Built>(built: readonly Built[], kind: string): T => {
  const found = built.filter(one => one.kind === kind)
  expect([kind, found.length]).toEqual([kind, 1])
  return found[0] as T
}

const texts = { base: '', own: '', all: '' }
const validator = join(folder, 'python', 'bin')
let keda = ''

beforeAll(async () => {
  cpSync('kubernetes', join(folder, 'agent-payments', 'kubernetes'), { recursive: true })
  texts.base = await build('kubernetes')
  texts.own = await build(readersFolder('own'))
  texts.all = await build(readersFolder('all', components))
  keda = JSON.parse(await runPeer('go', ['mod', 'download', '-json', KEDA], '')).Dir
  await run('python3', ['-m', 'venv', dirname(validator)])
  await run(join(validator, 'pip'), ['install', '--quiet', '--disable-pip-version-check', VALIDATOR])
})

describe('Kustomize builds', () => {
  const NOT_OF_KUBERNETES = {
    base: [],
    own: ['ScaledObject'],
    all: ['ScaledObject', 'TriggerAuthentication'],
  }
  const PROGRAMS = { base: 6, own: 6, all: 5 }
  const names = ['base', 'own', 'all'] as const

  test.each(names)('%s, and each manifest passes the schema of Kubernetes and is hardened', async name => {
    const text = texts[name]
    const programs = partsOf(text).filter(part => /^kind: (Deployment|Job)$/m.test(part))
    expect(programs).toHaveLength(PROGRAMS[name])
    for (const part of programs) for (const line of HARDENED) expect(part).toContain(line)

    const file = join(folder, `${name}.yaml`)
    writeFileSync(file, text)
    const validate = ['--strict', '--kubernetes-version', KUBERNETES]
    const { stdout, stderr } = await run(join(validator, 'kubernetes-validate'), [...validate, file])
    const lines = `${stdout}${stderr}`.split('\n').filter(Boolean)
    const unchecked = lines.filter(line => !line.startsWith('INFO'))
    expect(unchecked).toEqual(NOT_OF_KUBERNETES[name].map(kind => expect.stringContaining(`kind ${kind}`)))
    expect(lines.length).toBe(partsOf(text).length)
  })

  test('every object into the same namespace', () => {
    const elsewhere = readAll(texts.all).filter(
      ({ kind, metadata }) => kind !== 'Namespace' && metadata.namespace !== 'agentpay',
    )
    expect(elsewhere).toEqual([])
  })

  test('the settings of the page into the ConfigMap that the programs read', () => {
    const { data, metadata } = only(readAll(texts.own), 'ConfigMap')
    expect(data).toMatchObject({ TEMPORAL_ADDRESS: 'temporal.example.com:7233', FILES_DIR: 'files' })
    expect(texts.own.split(`name: ${metadata.name}\n`)).toHaveLength(8)
  })
})

describe('KEDA', () => {
  const trigger = (text: string): Trigger => {
    const [found] = only<Autoscaler>(readAll(text), 'ScaledObject').spec.triggers
    return found as Trigger
  }

  test('asks the Temporal of the settings about their task queue', () => {
    for (const text of [texts.own, texts.all]) {
      const { data = {} } = only(readAll(text), 'ConfigMap')
      expect(trigger(text).metadata).toMatchObject({
        endpoint: data.TEMPORAL_ADDRESS,
        namespace: data.TEMPORAL_NAMESPACE,
        taskQueue: data.TEMPORAL_TASK_QUEUE,
      })
    }
  })

  test.each(['ScaledObject', 'TriggerAuthentication'])('accepts the %s by its schema', kind => {
    const file = join(keda, 'config/crd/bases', `keda.sh_${kind.toLowerCase()}s.yaml`)
    const { spec } = parseYaml(readFileSync(file, 'utf8')) as ResourceDefinition
    const [version] = spec.versions
    const schema = z.fromJSONSchema(closed(version?.schema.openAPIV3Schema) as JsonSchema)
    const object = only(readAll(texts.all), kind)
    expect(schema.safeParse(object).error?.issues).toBeUndefined()
    expect(schema.safeParse({ ...object, spce: {} }).success).toBe(false)
  })

  test('knows each parameter of the trigger and of its authentication', () => {
    const file = join(keda, 'schema/generated/scalers-schema.json')
    const { scalers } = JSON.parse(readFileSync(file, 'utf8')) as { scalers: Scaler[] }
    const { type, metadata, authenticationRef } = trigger(texts.all)
    const parameters = scalers.find(scaler => scaler.type === type)?.parameters ?? []
    const inMetadata = parameters.filter(({ metadataVariableReadable }) => metadataVariableReadable)
    expect(inMetadata.map(({ name }) => name)).toEqual(expect.arrayContaining(Object.keys(metadata)))

    const { metadata: own, spec } = only<Authentication>(readAll(texts.all), 'TriggerAuthentication')
    expect(authenticationRef).toEqual({ name: own.name })
    const inSecrets = parameters.filter(one => one.triggerAuthenticationVariableReadable)
    expect(inSecrets.map(({ name }) => name)).toEqual(
      expect.arrayContaining(spec.secretTargetRef.map(({ parameter }) => parameter)),
    )
  })
})

interface ResourceDefinition {
  readonly spec: {
    readonly versions: readonly { readonly schema: { readonly openAPIV3Schema: unknown } }[]
  }
}

interface Scaler {
  readonly type: string
  readonly parameters: readonly {
    readonly name: string
    readonly metadataVariableReadable?: boolean
    readonly triggerAuthenticationVariableReadable?: boolean
  }[]
}

/** Kubernetes drops members that a schema does not name. Here they are refused. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed)
  if (typeof schema !== 'object' || schema === null) return schema
  const members = Object.fromEntries(Object.entries(schema).map(([name, part]) => [name, closed(part)]))
  return members.type === 'object' && 'properties' in members
    ? { ...members, additionalProperties: false }
    : members
}

describe('the components', () => {
  const built = () => readAll(texts.all)
  const pods = (kind: string, name: string) =>
    partsOf(texts.all).find(
      part => part.includes(`\nkind: ${kind}\n`) && part.includes(`\n  name: ${name}\n`),
    )

  test('are all explained by the page', () => {
    const page = readFileSync(PAGE, 'utf8')
    expect(components.filter(path => !page.includes(`\`${path.replace(/^kubernetes\//, '')}\``))).toEqual([])
  })

  test('bucket: no program needs a volume for uploads', () => {
    expect(texts.own).toContain('claimName: files')
    expect(texts.all).not.toMatch(/claimName: files|mountPath: \/app\/files/)
    const claims = built().filter(({ kind }) => kind === 'PersistentVolumeClaim')
    expect(claims.map(({ metadata }) => metadata.name)).toEqual(['bank'])
  })

  test('sepa-files: workers, and only they, mount the folder of the settings', () => {
    const { data } = only(built(), 'ConfigMap')
    expect(data).toMatchObject({ SEPA_RAIL: 'files', SEPA_FOLDER: '/app/bank' })
    const holders = ['api', 'relay', 'worker'].filter(name =>
      pods('Deployment', name)?.includes('mountPath: /app/bank'),
    )
    expect(holders).toEqual(['worker'])
  })

  test('temporal-cloud: workers and relays read the API key, and no job creates the namespace', () => {
    const readers = ['api', 'relay', 'worker'].filter(name => {
      const text = pods('Deployment', name) ?? ''
      return text.includes('name: TEMPORAL_API_KEY_FILE') && text.includes('key: temporal_api_key')
    })
    expect(readers).toEqual(['relay', 'worker'])
    for (const job of ['migrate', 'current']) {
      expect(pods('Job', job)).toContain('name: TEMPORAL_API_KEY_FILE')
      expect(pods('Job', job)).toContain('key: temporal_api_key')
    }
    expect(pods('Job', 'namespace')).toBeUndefined()
  })
})
