import { readFileSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import { readSettings, settingRows } from '../../src/platform/settings.ts'

describe('settings', () => {
  test('without an environment everything has a default', () => {
    expect(readSettings({})).toEqual({
      port: 8080,
      host: '127.0.0.1',
      bankBic: 'AGPYDEF0XXX',
      accountHolder: 'Agent Payments',
      bankCode: '99990001',
      dataDir: '.data',
      databasePool: 20,
      rateLimitPerMinute: 100,
      trustProxy: false,
      logLevel: 'info',
      temporalNamespace: 'default',
      operatorSignals: false,
      sepaCutOffs: ['09:00', '12:00', '15:00'],
      pushContact: 'mailto:push@example.com',
      webhookRetrySeconds: [60, 300, 900, 3600],
    })
  })

  test('an empty variable counts as unset', () => {
    expect(readSettings({ PORT: '', DATABASE_URL: ' ' })).toEqual(readSettings({}))
  })

  test.each([
    [{ PORT: '0' }, { port: 0 }],
    [{ HOST: '::1' }, { host: '::1' }],
    [{ DATABASE_URL: 'postgres://u:p@h:5432/d' }, { databaseUrl: 'postgres://u:p@h:5432/d' }],
    [{ RATE_LIMIT_PER_MINUTE: '1000000' }, { rateLimitPerMinute: 1_000_000 }],
    [{ TRUST_PROXY: 'false' }, { trustProxy: false }],
    [{ TRUST_PROXY: '2' }, { trustProxy: 2 }],
    [{ TRUST_PROXY: '10.0.0.1, fd00::/8' }, { trustProxy: ['10.0.0.1', 'fd00::/8'] }],
    [{ ENCRYPTION_KEY: 'aB'.repeat(32) }, { encryptionKey: 'aB'.repeat(32) }],
    [{ ENCRYPTION_KEY: `${'+/'.repeat(21)}A=` }, { encryptionKey: `${'+/'.repeat(21)}A=` }],
    [{ OUTBOUND_ALLOW_CIDRS: '127.0.0.1, fd00::/8' }, { outboundAllowCidrs: ['127.0.0.1', 'fd00::/8'] }],
    [{ PUSH_CONTACT: 'mailto:ada@example.com' }, { pushContact: 'mailto:ada@example.com' }],
    [{ TEMPORAL_ADDRESS: 'temporal.example:7233' }, { temporalAddress: 'temporal.example:7233' }],
    [{ TEMPORAL_ADDRESS: '[::1]:7233' }, { temporalAddress: '[::1]:7233' }],
    [{ TEMPORAL_NAMESPACE: 'pay.a1b2c' }, { temporalNamespace: 'pay.a1b2c' }],
    [{ TEMPORAL_TLS: 'true' }, { temporalTls: true }],
    [{ TEMPORAL_TLS: 'false' }, { temporalTls: false }],
    [{ SEPA_CUT_OFFS: '08:30, 16:00' }, { sepaCutOffs: ['08:30', '16:00'] }],
    [{ PUBLIC_URL: 'https://pay.example' }, { publicUrl: 'https://pay.example' }],
  ])('%j is read as %j', (env, settings) => {
    expect(readSettings(env)).toMatchObject(settings)
  })

  test.each([
    ['PORT', '65536'],
    ['PORT', '80.5'],
    ['PORT', '0x50'],
    ['HOST', 'not a host'],
    ['DATABASE_URL', 'mysql://root:hunter2@localhost'],
    ['DATABASE_URL', 'hunter2hunter2hunter2'],
    ['DATABASE_POOL', '1'],
    ['DASHBOARD_SECRET', 'hunter2'],
    ['SECRET_KEY', 'hunter2hunter2hunter2'],
    ['ENCRYPTION_KEY', 'hunter2'.repeat(9)],
    ['ENCRYPTION_KEYS_OLD', `${'00'.repeat(32)},hunter2`],
    ['OUTBOUND_ALLOW_CIDRS', '10.0.0.0/33'],
    ['OUTBOUND_ALLOW_CIDRS', '10.0.0/8'],
    ['OUTBOUND_ALLOW_CIDRS', 'receiver.example'],
    ['RATE_LIMIT_PER_MINUTE', '-1'],
    ['TRUST_PROXY', 'true'],
    ['TRUST_PROXY', '0.0.0.0/33'],
    ['LOG_LEVEL', 'chatty'],
    ['TEMPORAL_ADDRESS', 'http://temporal.example'],
    ['TEMPORAL_ADDRESS', 'temporal.example'],
    ['TEMPORAL_NAMESPACE', 'not a namespace'],
    ['TEMPORAL_API_KEY', 'hunter2'],
    ['TEMPORAL_TLS', 'perhaps'],
    ['PUSH_CONTACT', 'ada@example.com'],
    ['SEPA_CUT_OFFS', '24:00'],
    ['SEPA_CUT_OFFS', '15:00,09:00'],
    ['PUBLIC_URL', 'ftp://pay.example'],
  ])('%s is refused in one line that does not hold its value', (name, value) => {
    const read = () => readSettings({ [name]: value })
    expect(read).toThrow(new RegExp(`^${name} is not valid\\. Allowed: [^\\n]+$`))
    expect(read).not.toThrow(value)
  })
})

describe('their documentation', () => {
  test('.env.example holds every setting', () => {
    const entries = settingRows().map(
      ({ name, standard, allowed, meaning }) =>
        `# ${meaning}\n# Allowed: ${allowed}. Default: ${standard}.\n#${name}=\n`,
    )
    expect(readFileSync('.env.example', 'utf8')).toBe(`${HEADING}\n${entries.join('\n')}`)
  })

  test('the README shows every setting', () => {
    const rows = settingRows().map(
      ({ name, standard, allowed, meaning }) => `| \`${name}\` | ${standard} | ${allowed} | ${meaning} |`,
    )
    const table = ['| setting | default | allowed | meaning |', '|---|---|---|---|', ...rows].join('\n')
    const [, shown] = readFileSync('README.md', 'utf8').split(/<!-- \/?settings -->/)
    expect(shown?.trim()).toBe(table)
  })
})

const HEADING = `# Settings of the service. Copy this file to .env, or set them in the environment, which wins.
`
