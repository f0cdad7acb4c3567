import { execFile } from 'node:child_process'
import { copyFileSync, cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { startTestService } from '../support/harness.ts'
import { runNpm } from '../support/packages/installed.ts'
import { temporaryFolder } from '../support/processes/folders.ts'

const service = await startTestService({ env: { OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8' } })
const folder = temporaryFolder()
const contract = resolve('openapi.json')
const programs = resolve('test/peers/generators')
const execute = promisify(execFile)

/** Runs a program; if it is missing, says what to install. */
async function run(command: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv = {}) {
  const options = { cwd, env: { ...process.env, ...env }, maxBuffer: 100_000_000 }
  const ended = execute(command, [...args], options).catch(error => {
    if (error.code === 'ENOENT')
      throw new Error(
        `${command} is missing. Install it: npm run test:peers needs go, python3, java (17 or later) and mvn.`,
      )
    throw new Error(`${command} ${args.join(' ')} failed: ${error.stderr}${error.stdout}`)
  })
  return (await ended).stdout
}

/** Pays with a program for a new owner; returns its output. */
async function paidBy(command: string, args: readonly string[], cwd: string): Promise<unknown> {
  const { key } = await service.owner()
  return JSON.parse(await run(command, args, cwd, { AGENTPAY_URL: service.url, AGENTPAY_KEY: key }))
}

const PAID = {
  declared: 'created',
  refused: [400, 'intent_not_approved', expect.stringMatching(/^intentId: name an approved intent/)],
  merchantStatus: 200,
  status: 'completed',
  agents: ['Writer', 'Reader'],
}

test('openapi-typescript and openapi-fetch make a client that pays', async () => {
  const own = join(folder, 'typescript')
  mkdirSync(own)
  writeFileSync(join(own, 'package.json'), '{ "private": true, "type": "module" }')
  const packages = [
    'openapi-typescript@7.13.0',
    'openapi-fetch@0.17.0',
    'typescript@5.9.3',
    '@types/node@20.19.25',
  ]
  await runNpm(['install', '--ignore-scripts', '--no-audit', '--no-fund', ...packages], own)
  copyFileSync(join(programs, 'pay.ts'), join(own, 'pay.ts'))
  const generator = join(own, 'node_modules/openapi-typescript/bin/cli.js')
  await run(
    process.execPath,
    [generator, contract, '--output', 'api.d.ts', '--default-non-nullable', 'false'],
    own,
  )
  const compiler = join(own, 'node_modules/typescript/bin/tsc')
  await run(
    process.execPath,
    [compiler, '--strict', '--module', 'nodenext', '--target', 'es2022', 'pay.ts'],
    own,
  )
  expect(await paidBy(process.execPath, ['pay.js'], own)).toEqual(PAID)
})

test('openapi-python-client makes a client that pays', async () => {
  const own = join(folder, 'python')
  await run('python3', ['-m', 'venv', own], folder)
  const python = join(own, 'bin/python')
  await run(python, ['-m', 'pip', 'install', '--quiet', 'openapi-python-client==0.29.1'], folder)
  copyFileSync(join(programs, 'pay.py'), join(own, 'pay.py'))
  const config = join(own, 'config.json')
  writeFileSync(config, JSON.stringify({ content_type_overrides: BYTES, post_hooks: [] }))
  const args = ['--path', contract, '--output-path', join(own, 'agent_payments_client'), '--meta', 'none']
  await run(join(own, 'bin/openapi-python-client'), ['generate', ...args, '--config', config], own)
  expect(await paidBy(python, ['pay.py'], own)).toEqual(PAID)
})

/** What the Python client sends and receives as bytes. */
const BYTES = Object.fromEntries(
  [
    '*/*',
    'application/pdf',
    'application/xml',
    'application/zip',
    'application/x-ndjson',
    'image/svg+xml',
    'image/webp',
  ].map(type => [type, 'application/octet-stream']),
)

describe('openapi-generator', () => {
  const VERSION = '7.25.0'

  beforeAll(async () => {
    const artifact = `org.openapitools:openapi-generator-cli:${VERSION}`
    const copy = ['--quiet', '--batch-mode', 'dependency:copy']
    await run('mvn', [...copy, `-Dartifact=${artifact}`, `-DoutputDirectory=${folder}`], folder)
  })

  /** OAuth's members beside ours, which differ only by an underscore. */
  const oauthNames = [
    'device_code',
    'user_code',
    'verification_uri',
    'verification_uri_complete',
    'expires_in',
  ]
  const mapped = (nameOf: (name: string) => string) =>
    oauthNames.map(name => `${name}=${nameOf(name)}`).join(',')

  async function generate(language: string, own: string, ...args: readonly string[]): Promise<void> {
    const jar = join(folder, `openapi-generator-cli-${VERSION}.jar`)
    const skipped = ['apiTests', 'modelTests', 'apiDocs', 'modelDocs'].map(what => `${what}=false`)
    const properties = [...skipped, 'skipFormModel=false'].join(',')
    const given = ['-g', language, '-i', contract, '-o', own, '--global-property', properties, ...args]
    await run('java', ['-jar', jar, 'generate', ...given], folder)
  }

  test('makes a client of Go that pays', async () => {
    const own = join(folder, 'go')
    const address = ['--git-host', 'example.com', '--git-user-id', 'agentpay', '--git-repo-id', 'client']
    const names = mapped(name => `OAuth_${name}`)
    await generate('go', own, ...address, '--package-name', 'agentpay', '--name-mappings', names)
    mkdirSync(join(own, 'pay'))
    copyFileSync(join(programs, 'pay.go'), join(own, 'pay/main.go'))
    expect(await paidBy('go', ['run', '-mod=mod', './pay'], own)).toEqual(PAID)
  })

  test('makes a client of Java that pays', async () => {
    const own = join(folder, 'java')
    await generate(
      'java',
      own,
      '--library',
      'native',
      '--name-mappings',
      mapped(name => `oauth_${name}`),
      // A group or a list of people, for which the generator writes a class that does not compile.
      '--schema-mappings',
      'ApprovalStep_of=Object',
    )
    cpSync(join(programs, 'Pay.java'), join(own, 'src/main/java/Pay.java'))
    const lines = ['--quiet', '--batch-mode', 'compile', 'dependency:build-classpath']
    await run('mvn', [...lines, '-Dmdep.outputFile=classpath'], own)
    const args = ['-c', 'exec java -cp "target/classes:$(cat classpath)" Pay']
    expect(await paidBy('sh', args, own)).toEqual(PAID)
  })
})
