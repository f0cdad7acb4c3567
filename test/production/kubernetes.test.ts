import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { parseYaml } from '@redocly/openapi-core'
import manifest from '../../package.json' with { type: 'json' }
import { settingVariables } from '../../src/platform/settings/settings.ts'
import { temporaryFolder } from '../support/processes/folders.ts'
import { composeText, makeSecrets, readCompose, readVariables } from './compose.ts'

interface Container {
  readonly command?: readonly string[]
  readonly env?: readonly { readonly name: string; readonly value: string }[]
  readonly resources?: { readonly limits: { readonly memory: string } }
}

interface Pod {
  readonly containers: readonly Container[]
  readonly volumes?: readonly {
    readonly secret?: { readonly items: readonly { readonly key: string; readonly path: string }[] }
  }[]
}

interface Manifest {
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly spec: { readonly template?: { readonly spec: Pod } }
  readonly images?: readonly { readonly name: string; readonly newTag: string }[]
  readonly configMapGenerator?: readonly { readonly literals?: readonly string[] }[]
}

const FOLDER = 'kubernetes'

const textOf = (file: string): string => readFileSync(`${FOLDER}/${file}`, 'utf8')

const manifestsIn = (file: string): Manifest[] =>
  textOf(file)
    .split('\n---\n')
    .map(text => parseYaml(text) as Manifest)

const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter(file =>
  file.endsWith('.yaml'),
)
const isOfComponent = (file: string): boolean => dirname(file) !== '.'

const podsIn = (among: readonly string[]): Pod[] =>
  among.flatMap(manifestsIn).flatMap(({ spec }) => spec?.template?.spec ?? [])
const pods = podsIn(files.filter(file => !isOfComponent(file)))
const additions = podsIn(files.filter(isOfComponent))
const [program] = manifestsIn('program.yaml').flatMap(({ spec }) => spec.template?.spec ?? [])

const programOf = (command: Container['command'] | string): string => basename(command?.[1] ?? '', '.ts')

const secretsOf = ({ volumes = [] }: Pod): string[] =>
  volumes.flatMap(({ secret }) => secret?.items.map(({ key }) => key) ?? [])
const variablesOf = ({ containers }: Pod) => containers.flatMap(({ env = [] }) => env)
const secretsReadBy = (pod: Pod): string[] =>
  variablesOf(pod).flatMap(({ value }) => /^\/run\/secrets\/(\w+)$/.exec(value)?.[1] ?? [])

const folder = temporaryFolder()
const { SECRETS_DIR } = makeSecrets(folder)
const { services } = readCompose({
  ...readVariables(readFileSync('.env.production.example', 'utf8')),
  SECRETS_DIR,
})

describe('the manifests for Kubernetes', () => {
  test('run programs that exist, in the version of this package', () => {
    const commands = pods.flatMap(({ containers }) =>
      containers.flatMap(({ command = [] }) => command.slice(1)),
    )
    expect(commands.map(path => basename(path, '.ts')).sort()).toEqual([
      'api',
      'current',
      'migrate',
      'namespace',
      'relay',
      'worker',
    ])
    expect(commands.filter(path => !existsSync(path))).toEqual([])
    const [{ images }] = manifestsIn('kustomization.yaml') as [Manifest]
    expect(images).toEqual([{ name: 'agent-payments', newTag: manifest.version }])
    expect(services['api-1']?.image).toBe(`agent-payments:${manifest.version}`)
  })

  test('limit each program to the memory of its container in docker-compose.yml', () => {
    const limits = pods.flatMap(({ containers }) =>
      containers.flatMap(({ command, resources }) =>
        // A patch for all programs names none.
        command ? [[programOf(command), resources?.limits.memory]] : [],
      ),
    )
    const ofCompose = (program: unknown) =>
      Object.values(services).find(({ command }) => programOf(command) === program)?.deploy?.resources.limits
        .memory
    expect(limits).toHaveLength(6)
    for (const [program, memory] of limits)
      expect([program, memory]).toEqual([program, `${ofCompose(program)}i`])
  })

  test('set only settings that exist', () => {
    const known = settingVariables()
    const literals = files
      .flatMap(manifestsIn)
      .flatMap(({ configMapGenerator = [] }) => configMapGenerator)
      .flatMap(({ literals = [] }) => literals)
    const named = [
      ...Object.keys(readVariables([textOf('settings.env'), ...literals].join('\n'))),
      ...[...pods, ...additions].flatMap(variablesOf).map(({ name }) => name),
    ]
    expect(named).toEqual(expect.arrayContaining(['SEPA_FOLDER', 'TEMPORAL_API_KEY_FILE']))
    expect(named.filter(name => !known.includes(name))).toEqual([])
  })

  test('give each pod exactly the secrets that it reads, as files that the script makes', () => {
    const made = readdirSync(SECRETS_DIR)
    for (const pod of pods) {
      expect(secretsOf(pod)).toEqual(secretsReadBy(pod))
      expect(secretsOf(pod).filter(name => !made.includes(name))).toEqual([])
    }
    expect(secretsOf(program as Pod)).toEqual(services['api-1']?.secrets)
  })

  test('mount in a component the secrets that it reads', () => {
    for (const pod of additions) expect(secretsOf(pod)).toEqual(secretsReadBy(pod))
    expect(additions.flatMap(secretsOf)).toEqual(['temporal_api_key'])
  })

  test('pass no secret in an environment', () => {
    expect(composeText()).toContain('_FILE')
    const named = [...pods, ...additions]
      .flatMap(variablesOf)
      .filter(({ name }) => /PASSWORD|SECRET|KEY/.test(name))
    expect(named.filter(({ name }) => !name.endsWith('_FILE'))).toEqual([])
    expect(textOf('settings.env')).not.toMatch(/PASSWORD|SECRET|KEY=|:\/\/\w+:/)
  })
})
