import { generateKeyPairSync } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { describe, expect, test } from '@jest/globals'
import { refuseMisspeltSettings } from '../../../src/platform/settings/environment.ts'
import {
  documentedSettings,
  readSettings,
  renamedVariables,
  settingVariables,
} from '../../../src/platform/settings/settings.ts'
import { temporaryFolder } from '../../support/processes/folders.ts'

describe('the settings', () => {
  test('have defaults without an environment', () => {
    expect(readSettings({})).toEqual({
      port: 8080,
      host: '127.0.0.1',
      backgroundIntervalMs: 100,
      backgroundPollSeconds: 5,
      bankBic: 'AGPYDEF0XXX',
      accountHolder: 'Agent Payments',
      bankCode: '99990001',
      dataDir: '.data',
      databasePool: 20,
      rateLimitPerMinute: 100,
      keepAliveSeconds: 75,
      connectionsPerAddress: 500,
      bodyMemoryMib: 32,
      uploadMemoryMib: 64,
      auditRetentionDays: 3_650,
      filesQuotaMib: 5_120,
      cardAuthTimeoutMs: 1_500,
      mppWorkflows: 'run',
      doraWeekendRelief: 'none',
      trustProxy: false,
      logLevel: 'info',
      temporalNamespace: 'default',
      temporalTaskQueue: 'agentpay',
      operatorSignals: false,
      otelServiceName: 'agent-payments',
      otelTracesSampler: 'parentbased_traceidratio',
      otelTracesSamplerArg: 1,
      otelMetricsExporter: 'otlp',
      otelMetricExportInterval: 60_000,
      sepaCutoffTimes: ['09:00', '12:00', '15:00'],
      sepaReportHours: 4,
      exchangeRatesUrl: 'https://www.ecb.europa.eu/stats/eurofxref/eurofxref-daily.xml',
      vapidSubject: 'mailto:push@example.com',
      webhookRetrySeconds: [60, 300, 900, 3600],
    })
  })

  test('treat an empty variable as unset', () => {
    expect(readSettings({ PORT: '', DATABASE_URL: ' ' })).toEqual(readSettings({}))
  })

  test.each([
    [{ PORT: '0' }, { port: 0 }],
    [{ HOST: '::1' }, { host: '::1' }],
    [{ DATABASE_URL: 'postgres://u:p@h:5432/d' }, { databaseUrl: 'postgres://u:p@h:5432/d' }],
    [{ CELL: 'c2' }, { cell: 'c2' }],
    [{ RATE_LIMIT_PER_MINUTE: '1000000' }, { rateLimitPerMinute: 1_000_000 }],
    [{ TRUST_PROXY: 'false' }, { trustProxy: false }],
    [{ TRUST_PROXY: '2' }, { trustProxy: 2 }],
    [{ TRUST_PROXY: '10.0.0.1, fd00::/8' }, { trustProxy: ['10.0.0.1', 'fd00::/8'] }],
    [{ ENCRYPTION_KEY: 'aB'.repeat(32) }, { encryptionKey: 'aB'.repeat(32) }],
    [{ ENCRYPTION_KEY: `${'+/'.repeat(21)}A=` }, { encryptionKey: `${'+/'.repeat(21)}A=` }],
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'https://otel.example.com/' },
      { otelExporterOtlpEndpoint: 'https://otel.example.com' },
    ],
    [
      { OTEL_EXPORTER_OTLP_HEADERS: 'api-key=a%20b, other=c==' },
      { otelExporterOtlpHeaders: 'api-key=a%20b, other=c==' },
    ],
    [{ OTEL_TRACES_SAMPLER_ARG: '0.05' }, { otelTracesSamplerArg: 0.05 }],
    [{ OUTBOUND_ALLOW_CIDRS: '127.0.0.1, fd00::/8' }, { outboundAllowCidrs: ['127.0.0.1', 'fd00::/8'] }],
    [{ VAPID_SUBJECT: 'mailto:ada@example.com' }, { vapidSubject: 'mailto:ada@example.com' }],
    [{ DORA_WEEKEND_RELIEF: 'final' }, { doraWeekendRelief: 'final' }],
    [{ SECURITY_CONTACT: 'mailto:security@example.com' }, { securityContact: 'mailto:security@example.com' }],
    [{ TEMPORAL_ADDRESS: 'temporal.example:7233' }, { temporalAddress: 'temporal.example:7233' }],
    [{ TEMPORAL_ADDRESS: '[::1]:7233' }, { temporalAddress: '[::1]:7233' }],
    [{ TEMPORAL_NAMESPACE: 'pay.a1b2c' }, { temporalNamespace: 'pay.a1b2c' }],
    [{ TEMPORAL_TASK_QUEUE: 'agentpay-2' }, { temporalTaskQueue: 'agentpay-2' }],
    [{ TEMPORAL_DEPLOYMENT: 'agentpay-eu' }, { temporalDeployment: 'agentpay-eu' }],
    [{ TEMPORAL_DEPLOYMENT: 'agentpay.eu' }, { temporalDeployment: 'agentpay-eu-fb46fdd3' }],
    [{ TEMPORAL_DEPLOYMENT: '__pay' }, { temporalDeployment: '-pay-0021cca7' }],
    [{ TEMPORAL_DEPLOYMENT: 'q'.repeat(255) }, { temporalDeployment: `${'q'.repeat(191)}-db6dd231` }],
    [{ TEMPORAL_TLS: 'true' }, { temporalTls: true }],
    [{ TEMPORAL_TLS: 'false' }, { temporalTls: false }],
    [{ SEPA_CUTOFF_TIMES: '08:30, 16:00' }, { sepaCutoffTimes: ['08:30', '16:00'] }],
    [{ SEPA_REPORT_HOURS: '0' }, { sepaReportHours: 0 }],
    [{ STRIPE_SECRET_KEY: 'rk_live_51Abcdefgh' }, { stripeSecretKey: 'rk_live_51Abcdefgh' }],
    [{ STRIPE_API_URL: 'http://127.0.0.1:12111' }, { stripeApiUrl: 'http://127.0.0.1:12111' }],
    [{ PUBLIC_URL: 'https://pay.example' }, { publicUrl: 'https://pay.example' }],
    [{ PUBLIC_URL: 'https://pay.example/' }, { publicUrl: 'https://pay.example' }],
  ])('read %j as %j', (env, settings) => {
    expect(readSettings(env)).toMatchObject(settings)
  })

  test.each([
    ['PORT', '65536'],
    ['PORT', '80.5'],
    ['PORT', '0x50'],
    ['HOST', 'not a host'],
    ['CELL', 'live'],
    ['CELL', 'c_2'],
    ['DATABASE_URL', 'mysql://root:hunter2@localhost'],
    ['DATABASE_URL', 'hunter2hunter2hunter2'],
    ['DATABASE_POOL', '1'],
    ['DASHBOARD_SECRET', 'hunter2'],
    ['CURSOR_SIGNING_KEY', 'hunter2hunter2hunter2'],
    ['ENCRYPTION_KEY', 'hunter2'.repeat(9)],
    ['ENCRYPTION_KEYS_OLD', `${'00'.repeat(32)},hunter2`],
    ['OUTBOUND_ALLOW_CIDRS', '10.0.0.0/33'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'otel.example.com:4318'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'api-key'],
    ['OTEL_TRACES_SAMPLER', 'jaeger_remote'],
    ['OTEL_TRACES_SAMPLER_ARG', '1.5'],
    ['OTEL_METRIC_EXPORT_INTERVAL', '7'],
    ['OUTBOUND_ALLOW_CIDRS', '10.0.0/8'],
    ['OUTBOUND_ALLOW_CIDRS', 'receiver.example'],
    ['RATE_LIMIT_PER_MINUTE', '-1'],
    ['TRUST_PROXY', 'true'],
    ['TRUST_PROXY', '0.0.0.0/33'],
    ['LOG_LEVEL', 'chatty'],
    ['TEMPORAL_ADDRESS', 'http://temporal.example'],
    ['TEMPORAL_ADDRESS', 'temporal.example'],
    ['TEMPORAL_NAMESPACE', 'not a namespace'],
    ['TEMPORAL_TASK_QUEUE', '/_sys/agentpay/1'],
    ['TEMPORAL_TASK_QUEUE', 'q'.repeat(256)],
    ['TEMPORAL_API_KEY', 'hunter2'],
    ['TEMPORAL_TLS', 'perhaps'],
    ['VAPID_SUBJECT', 'ada@example.com'],
    ['SEPA_CUTOFF_TIMES', '24:00'],
    ['SEPA_CUTOFF_TIMES', '15:00,09:00'],
    ['SEPA_REPORT_HOURS', '241'],
    ['PUBLIC_URL', 'ftp://pay.example'],
    ['PUBLIC_URL', 'https://pay.example/?from=dns'],
    ['PUBLIC_URL', 'https://ada:hunter2@pay.example'],
    ['CARD_PROCESSOR', 'paper'],
    ['STRIPE_SECRET_KEY', 'pk_live_hunter2hunter2'],
    ['STRIPE_WEBHOOK_SECRET', 'hunter2hunter2'],
    ['STRIPE_WEBHOOK_SECRET_EVENTS', 'whsec-hunter2hunter2'],
    ['STRIPE_API_URL', 'http://stripe.example'],
    ['STRIPE_API_URL', 'stripe.example'],
  ])('refuse an invalid %s in one line that does not contain its value', (name, value) => {
    const read = () => readSettings({ [name]: value })
    expect(read).toThrow(new RegExp(`^${name} is not valid\\. Allowed: [^\\n]+$`))
    expect(read).not.toThrow(value)
  })
})

test('a bucket for files is configured whole or not at all', () => {
  const bucket = {
    FILES_URL: 'https://s3.example.com',
    FILES_BUCKET: 'uploads',
    FILES_REGION: 'eu-central-1',
    FILES_ACCESS_KEY_ID: 'key',
    FILES_SECRET_KEY: 'hunter2',
  }
  expect(readSettings(bucket)).toMatchObject({ filesBucket: 'uploads' })
  for (const name of Object.keys(bucket))
    expect(() => readSettings({ ...bucket, [name]: '' })).toThrow(`and ${name} is not set.`)
})

describe('e-mail', () => {
  const MAIL = { SMTP_URL: 'smtps://pay:hunter2@mail.example', MAIL_FROM: 'pay@example.com' }
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const DKIM = {
    DKIM_DOMAIN: 'example.com',
    DKIM_SELECTOR: 'pay',
    DKIM_PRIVATE_KEY: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
  }

  test('is configured whole or not at all', () => {
    expect(readSettings({ ...MAIL, ...DKIM })).toMatchObject({ dkimSelector: 'pay' })
    for (const name of Object.keys(MAIL))
      expect(() => readSettings({ ...MAIL, [name]: '' })).toThrow('E-mail needs SMTP_URL and MAIL_FROM')
    for (const name of Object.keys(DKIM))
      expect(() => readSettings({ ...MAIL, ...DKIM, [name]: '' })).toThrow('DKIM needs DKIM_DOMAIN')
    expect(() => readSettings(DKIM)).toThrow('DKIM needs DKIM_DOMAIN')
  })

  test.each([
    ['SMTP_URL', 'https://mail.example/hunter2'],
    ['MAIL_FROM', 'Pay <pay@example.com>'],
    ['DKIM_PRIVATE_KEY', 'hunter2'],
    ['DKIM_SELECTOR', 'a b'],
  ])('is refused with an invalid %s, without its value', (name, value) => {
    const read = () => readSettings({ ...MAIL, ...DKIM, [name]: value })
    expect(read).toThrow(new RegExp(`^${name} is not valid`))
    expect(read).not.toThrow(value)
  })
})

describe('a real rail', () => {
  const COUNTRIES = { DATABASE_COUNTRY: 'DE', TEMPORAL_COUNTRY: 'FI', FILES_COUNTRY: 'IE' }
  const RAILS = [
    { SEPA_RAIL: 'files' },
    { CARD_PROCESSOR: 'stripe' },
    { COLLECTION_IBAN: 'DE89370400440532013000' },
    { STRIPE_PROFILE_ID: 'profile_1' },
  ] as NodeJS.ProcessEnv[]

  test.each(RAILS)('%p stops the start until each store names its EU country', rail => {
    expect(readSettings({ ...rail, ...COUNTRIES })).toMatchObject({ temporalCountry: 'FI' })
    for (const name of Object.keys(COUNTRIES))
      expect(() => readSettings({ ...rail, ...COUNTRIES, [name]: '' })).toThrow(
        `Set ${name} to the EU country where this data is kept`,
      )
    expect(() => readSettings(rail)).toThrow('Set DATABASE_COUNTRY, TEMPORAL_COUNTRY, FILES_COUNTRY to')
  })

  test('asks for the country of the mail server where there is one', () => {
    const mail = { SMTP_URL: 'smtps://mail.example', MAIL_FROM: 'pay@example.com' }
    const rail = { SEPA_RAIL: 'files', ...COUNTRIES }
    expect(() => readSettings({ ...rail, ...mail })).toThrow('Set MAIL_COUNTRY to the EU country')
    expect(readSettings({ ...rail, ...mail, MAIL_COUNTRY: 'FR' })).toMatchObject({ mailCountry: 'FR' })
    expect(readSettings(mail)).toMatchObject({ mailFrom: 'pay@example.com' })
  })

  test('is not needed for that where Stripe identifies people', () => {
    const identity = { KYC_PROVIDER: 'stripe', STRIPE_SECRET_KEY: 'rk_test_hunter2hunter2' }
    expect(readSettings({ ...identity, ...COUNTRIES })).toMatchObject({ kycProvider: 'stripe' })
    expect(() => readSettings(identity)).toThrow('Set DATABASE_COUNTRY, TEMPORAL_COUNTRY, FILES_COUNTRY to')
  })

  test('is needed otherwise: simulations keep no real data', () => {
    expect(readSettings({ SEPA_RAIL: 'sandbox', CARD_PROCESSOR: 'sandbox' })).toMatchObject({})
  })

  test.each(['US', 'GB', 'CH', 'de', 'Germany'])('refuses %s, which is no code of an EU country', country => {
    expect(() => readSettings({ ...COUNTRIES, FILES_COUNTRY: country })).toThrow(
      'FILES_COUNTRY is not valid. Allowed: a country code of the EU',
    )
  })
})

describe('a name in .env', () => {
  test.each([
    ['PROT', 'PORT'],
    ['port', 'PORT'],
    ['DATABSE_URL', 'DATABASE_URL'],
    ['DATABASE_URL_FLIE', 'DATABASE_URL_FILE'],
    ['RATE_LIMIT_PER_MINUTES', 'RATE_LIMIT_PER_MINUTE'],
    ['RATE_LIMIT', 'RATE_LIMIT_PER_MINUTE'],
    ['TEMPORAL_ADRESS', 'TEMPORAL_ADDRESS'],
  ])('%s is refused, and %s is named in its place', (typed, meant) => {
    expect(() => refuseMisspeltSettings([typed], '.env')).toThrow(
      `${typed} in .env is not a setting. Did you mean ${meant}?`,
    )
  })

  test('is let be where it is a setting, or belongs to another program', () => {
    const others = ['AGENTPAY_KEY', 'COMPOSE_PROJECT_NAME', 'HTTPS_PROXY', 'NODE_OPTIONS', 'PATH', 'PGHOST']
    const examples = ['.env.example', '.env.production.example'].flatMap(file =>
      Object.keys(parseEnv(readFileSync(file, 'utf8').replace(/^#\s?(?=[A-Z_]+=)/gm, ''))),
    )
    expect(examples).toContain('DATABASE_URL')
    expect(() =>
      refuseMisspeltSettings([...settingVariables(), ...others, ...examples], '.env'),
    ).not.toThrow()
  })
})

describe('a setting by its old name', () => {
  const RENAMED = [
    ['SECRET_KEY', 'CURSOR_SIGNING_KEY'],
    ['SECRET_KEY_FILE', 'CURSOR_SIGNING_KEY_FILE'],
    ['TEMPORAL_WEB_UI', 'TEMPORAL_UI_URL'],
    ['PUSH_CONTACT', 'VAPID_SUBJECT'],
    ['CARD_ANSWER_MS', 'CARD_AUTH_TIMEOUT_MS'],
    ['SEPA_CUT_OFFS', 'SEPA_CUTOFF_TIMES'],
    ['MPP_RUNS', 'MPP_WORKFLOWS'],
  ] as const

  test('is one that was renamed to a present setting', () => {
    expect(RENAMED.map(([old]) => old)).toEqual(renamedVariables)
    expect(settingVariables()).toEqual(expect.arrayContaining(RENAMED.map(([, now]) => now)))
    expect(settingVariables()).toEqual(expect.not.arrayContaining(renamedVariables))
  })

  test.each(RENAMED)('%s stops the start, and the message names %s', (old, now) => {
    const message = `${old} is now called ${now}. Rename it.`
    expect(() => readSettings({ [old]: 'anything' })).toThrow(message)
    expect(() => refuseMisspeltSettings([old], '.env')).toThrow(message)
    expect(readSettings({ [old]: ' ' })).toEqual(readSettings({}))
  })
})

describe('a secret setting', () => {
  const inFile = (text: string): string => {
    const file = join(temporaryFolder(), 'secret')
    writeFileSync(file, text)
    return file
  }
  const fileVariables = settingVariables().filter(name => name.endsWith('_FILE'))
  const VALUES: Readonly<Record<string, string>> = {
    DATABASE_URL: 'postgres://u:p@h:5432/d',
    DASHBOARD_SECRET: 'a secret of the dashboard',
    CURSOR_SIGNING_KEY: 'a'.repeat(32),
    ENCRYPTION_KEY: '5a'.repeat(32),
    ENCRYPTION_KEYS_OLD: `${'5b'.repeat(32)},${'5c'.repeat(32)}`,
    TEMPORAL_API_KEY: 'a key of Temporal',
  }

  test('is marked as secret and has a _FILE variable', () => {
    const secrets = documentedSettings().filter(({ meaning }) => meaning.endsWith(' Secret.'))
    expect(fileVariables).toEqual(secrets.map(({ name }) => `${name}_FILE`))
    expect(fileVariables).toEqual(expect.arrayContaining(Object.keys(VALUES).map(name => `${name}_FILE`)))
  })

  test.each(Object.entries(VALUES))(
    '%s can be read from a file, with or without a line end',
    (name, value) => {
      const fromFile = (text: string) => readSettings({ [`${name}_FILE`]: inFile(text) })
      for (const text of [value, `${value}\n`, `${value}\r\n`])
        expect(fromFile(text)).toEqual(readSettings({ [name]: value }))
      expect(fromFile('\n')).toEqual(readSettings({}))
    },
  )

  test.each(fileVariables)('%s is refused beside the variable itself', variable => {
    const name = variable.replace(/_FILE$/, '')
    const both = { [name]: 'hunter2'.repeat(9), [variable]: inFile('hunter3') }
    expect(() => readSettings(both)).toThrow(`${name} and ${variable} are both set: set one of them.`)
  })

  test.each(fileVariables)('%s is refused if its file is missing or unreadable', variable => {
    const folder = temporaryFolder()
    for (const [file, why] of [
      [join(folder, 'nothing'), 'ENOENT'],
      [folder, 'EISDIR'],
    ])
      expect(() => readSettings({ [variable]: file })).toThrow(
        `${variable}: ${file} cannot be read (${why}).`,
      )
  })

  test('with an invalid file is refused without showing its content', () => {
    const read = () => readSettings({ ENCRYPTION_KEY_FILE: inFile('hunter2') })
    expect(read).toThrow('ENCRYPTION_KEY is not valid.')
    expect(read).not.toThrow('hunter2')
  })

  test('of the database goes into its URL, whatever characters it has', () => {
    const DATABASE_URL = 'postgres://agentpay@db:5432/agentpay'
    const DATABASE_PASSWORD_FILE = inFile('p@ss:w/o%rd #?\n')
    const { databaseUrl = '', databaseReplicaUrl = '' } = readSettings({
      DATABASE_URL,
      DATABASE_REPLICA_URL: 'postgres://agentpay@replica.example.com/agentpay',
      DATABASE_PASSWORD_FILE,
    })
    expect(decodeURIComponent(new URL(databaseReplicaUrl).password)).toBe('p@ss:w/o%rd #?')
    expect(decodeURIComponent(new URL(databaseUrl).password)).toBe('p@ss:w/o%rd #?')
    expect(new URL(databaseUrl).host).toBe('db:5432')
  })

  test.each(['', 'postgres://db/agentpay', 'postgres://agentpay:other@db/agentpay'])(
    'of the database is refused with the URL "%s"',
    DATABASE_URL => {
      expect(() => readSettings({ DATABASE_URL, DATABASE_PASSWORD: 'hunter2' })).toThrow(
        'DATABASE_PASSWORD needs a DATABASE_URL that names a user and has no password.',
      )
    },
  )
})

describe('the documentation of the settings', () => {
  test('is .env.example, which lists every setting: the lines marked - below are missing', () => {
    const entries = documentedSettings().map(
      ({ name, standard, allowed, meaning }) =>
        `# ${meaning}\n# Allowed: ${allowed}. Default: ${standard}.\n#${name}=\n`,
    )
    expect(readFileSync('.env.example', 'utf8')).toBe(`${HEADING}\n${entries.join('\n')}`)
  })

  test('is also the table in docs/reference/settings.md, with a row for each setting: the rows marked - below are missing', () => {
    const rows = documentedSettings().map(
      ({ name, standard, allowed, meaning }) => `| \`${name}\` | ${standard} | ${allowed} | ${meaning} |`,
    )
    const table = ['| setting | default | allowed | meaning |', '|---|---|---|---|', ...rows].join('\n')
    const [, written] = readFileSync('docs/reference/settings.md', 'utf8').split(/<!-- \/?settings -->/)
    expect(written?.trim()).toBe(table)
  })
})

const HEADING = `# Settings of the service. Copy this file to .env, or set them in the environment, which takes precedence. A secret
# may also be read from a file: set the variable of its name with _FILE at the end.
`
