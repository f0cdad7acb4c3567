import { z } from 'zod'
import { bic } from '../kernel/bic.ts'
import { iban } from '../kernel/iban.ts'
import { encryptionKey } from '../kernel/vault.ts'
import {
  addresses,
  cutOffs,
  hostAndPort,
  hostName,
  integer,
  listOf,
  matching,
  trustProxy,
  yesOrNo,
} from './setting-forms.ts'

/** What a setting says of itself in `.env.example` and in the README. */
interface About {
  meaning: string
  allowed: string
  /** Shown where the default is not a plain value. */
  otherwise?: string
}

const documentation = z.registry<About>()

const about = <T extends z.ZodType>(schema: T, text: About): T => {
  documentation.add(schema, text)
  return schema
}

const schema = z.object({
  port: about(integer(0, 65_535).default(8080), {
    meaning: 'Port of the service. When it is taken, the next free one is used.',
    allowed: '0 to 65535; 0 takes any free port',
  }),
  host: about(hostName.default('127.0.0.1'), {
    meaning: 'Address the service listens on.',
    allowed: 'an IP address or a host name',
  }),
  dataDir: about(z.string().default('.data'), {
    meaning: 'Where everything that must survive a restart is kept.',
    allowed: 'a directory',
  }),
  databaseUrl: about(z.url({ protocol: /^postgres(ql)?$/ }).optional(), {
    meaning: 'PostgreSQL to use. Secret.',
    allowed: 'postgres://user:password@host:port/database',
    otherwise: 'an embedded server',
  }),
  databasePool: about(integer(2, 200).default(20), {
    meaning: 'Most connections one process opens to PostgreSQL.',
    allowed: '2 to 200',
  }),
  dashboardSecret: about(z.string().min(16).optional(), {
    meaning: 'Bearer secret of the operator of this installation. Secret.',
    allowed: 'at least 16 characters',
    otherwise: 'generated and kept in `DATA_DIR`',
  }),
  secretKey: about(z.string().min(32).optional(), {
    meaning: 'Key that signs page cursors; the same for all processes. Secret.',
    allowed: 'at least 32 characters',
    otherwise: 'generated and kept in `DATA_DIR`',
  }),
  encryptionKey: about(encryptionKey.optional(), {
    meaning:
      'Key that seals what is kept and must be read again, such as the keys that sign webhooks; the same for all processes. Secret.',
    allowed: '32 bytes, as 64 hexadecimal digits or base64',
    otherwise: 'generated and kept in `DATA_DIR`',
  }),
  encryptionKeysOld: about(listOf(encryptionKey).optional(), {
    meaning:
      'Keys that `ENCRYPTION_KEY` was before. They open what they have sealed, and seal nothing. Secret.',
    allowed: 'such keys, with commas between them',
    otherwise: 'none',
  }),
  rateLimitPerMinute: about(integer(1, 1_000_000).default(100), {
    meaning: 'Requests a minute that one client address may make.',
    allowed: '1 to 1000000',
  }),
  // Trusting every proxy would let any client name its own address, and so pass the rate limit.
  trustProxy: about(trustProxy.default(false), {
    meaning:
      'Proxies whose `X-Forwarded-For` is believed. Never all of them: a client could then forge its address.',
    allowed: 'false, the number of proxies (1 to 10), or their addresses (10.0.0.1,10.1.0.0/16)',
  }),
  logLevel: about(z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'), {
    meaning: 'Least severe log lines that are written.',
    allowed: 'fatal, error, warn, info, debug, trace, silent',
  }),
  temporalAddress: about(hostAndPort.optional(), {
    meaning: 'Temporal server to use.',
    allowed: 'host:port',
    otherwise: 'an embedded server',
  }),
  temporalNamespace: about(matching(/^[\w.-]{1,255}$/).default('default'), {
    meaning: 'Namespace of our workflows in Temporal.',
    allowed: 'letters, digits, dots, hyphens',
  }),
  temporalApiKey: about(z.string().min(8).optional(), {
    meaning: 'API key for the Temporal server, as Temporal Cloud gives one. Secret.',
    allowed: 'at least 8 characters',
    otherwise: 'none',
  }),
  temporalTls: about(yesOrNo.optional(), {
    meaning: 'Whether the connection to `TEMPORAL_ADDRESS` is encrypted.',
    allowed: 'true or false',
    otherwise: 'true with an API key or a certificate, else false',
  }),
  temporalTlsCert: about(z.string().optional(), {
    meaning: 'Certificate that we show to the Temporal server. Goes with `TEMPORAL_TLS_KEY`.',
    allowed: 'a PEM file',
    otherwise: 'none',
  }),
  temporalTlsKey: about(z.string().optional(), {
    meaning: 'Private key of `TEMPORAL_TLS_CERT`.',
    allowed: 'a PEM file',
    otherwise: 'none',
  }),
  temporalTlsCa: about(z.string().optional(), {
    meaning: 'Certificate of the authority that vouches for the Temporal server.',
    allowed: 'a PEM file',
    otherwise: 'those that the system trusts',
  }),
  operatorSignals: about(yesOrNo.default(false), {
    meaning: 'Whether signals from the Temporal Web UI decide about live money. In test mode they always do.',
    allowed: 'true or false',
  }),
  bankCode: about(matching(/^\d{8}$/).default('99990001'), {
    meaning: 'German bank code in the IBANs of test wallets. The default is of no real bank.',
    allowed: 'eight digits',
  }),
  bankBic: about(matching(/^[A-Z]{4}DE[A-Z0-9]{2}([A-Z0-9]{3})?$/).default('AGPYDEF0XXX'), {
    meaning: 'BIC that goes with `BANK_CODE`.',
    allowed: 'a BIC of Germany',
  }),
  collectionIban: about(iban.optional(), {
    meaning:
      'Account to which live money is sent, and from which it leaves by files. Its bank’s files come in by `POST /rails/sepa`.',
    allowed: 'an IBAN of the SEPA area',
    otherwise: 'none: nobody is told where to send live money',
  }),
  collectionBic: about(bic.optional(), {
    meaning: 'BIC that goes with `COLLECTION_IBAN`. Within SEPA payers need none.',
    allowed: 'a BIC',
    otherwise: 'none',
  }),
  accountHolder: about(z.string().min(1).max(70).default('Agent Payments'), {
    meaning: 'In whose name the accounts are to which money is sent, as payers are told.',
    allowed: '1 to 70 characters',
  }),
  sepaRail: about(z.enum(['sandbox', 'files']).optional(), {
    meaning:
      'Rail of live mode’s SEPA payments. `files` exchanges files of ISO 20022 with the bank of `COLLECTION_IBAN`. `sandbox` only pretends: it is for rehearsals. Test mode always has it.',
    allowed: 'sandbox, files',
    otherwise: 'none: live mode has no SEPA payments',
  }),
  sepaFolder: about(z.string().optional(), {
    meaning:
      'Shared with the bank’s client (EBICS, for one) where `SEPA_RAIL` is `files`: it fetches from `out` in it and brings to `in`. All workers need the same one.',
    allowed: 'a directory',
    otherwise: 'none',
  }),
  sepaCutOffs: about(cutOffs.default(['09:00', '12:00', '15:00']), {
    meaning:
      'When the payments that wait become a file for the bank, on its working days, by the clock of Frankfurt. Before the bank’s own times.',
    allowed: 'times of day in their order (09:00,15:00)',
    otherwise: '09:00,12:00,15:00',
  }),
  fundingRail: about(z.enum(['sandbox']).optional(), {
    meaning:
      'Processor of live mode’s payment methods. `sandbox` only pretends: it is for rehearsals. Test mode always has it.',
    allowed: 'sandbox',
    otherwise: 'none: live mode has no payment methods',
  }),
  outboundAllowCidrs: about(addresses.optional(), {
    meaning:
      'Addresses that webhooks and other calls to addresses of others may reach though they are not public: of receivers beside it. What is in your network is open to every customer then.',
    allowed: 'addresses or blocks of them (127.0.0.1,10.1.0.0/16,fd00:1::/32)',
    otherwise: 'none: only public addresses',
  }),
  webhookRetrySeconds: about(listOf(integer(1, 604_800)).default([60, 300, 900, 3_600]), {
    meaning:
      'Waits before the second attempt of a webhook, the third, and so on, on plans that retry. With a fifth wait, 14400, there are six attempts.',
    allowed: 'seconds, separated by commas',
  }),
  pushContact: about(z.url({ protocol: /^(mailto|https)$/ }).default('mailto:push@example.com'), {
    meaning:
      'To whom push services turn when our messages give them trouble. Some of them refuse a made-up one: give yours before you use web push.',
    allowed: 'mailto: and an address, or an https URL',
  }),
  metricsPort: about(integer(0, 65_535).optional(), {
    meaning:
      'Port of `HOST` at which a worker or a relay answers `/health` and `/metrics`; an API process does so at its own.',
    allowed: '0 to 65535; 0 takes any free port',
    otherwise: 'none: they are not asked',
  }),
  publicUrl: about(z.url({ protocol: /^https?$/ }).optional(), {
    meaning: 'Address of the service as its clients see it, shown in the documentation.',
    allowed: 'an http or https URL',
    otherwise: 'the address it listens on',
  }),
})

export type Settings = z.output<typeof schema>

export class WrongSetting extends Error {}

/** `dataDir` in the code is `DATA_DIR` in the environment. */
const variable = (key: string) => key.replace(/[A-Z]/g, letter => `_${letter}`).toUpperCase()

const keys = Object.keys(schema.shape) as (keyof Settings)[]

const documented = (key: keyof Settings) => documentation.get(schema.shape[key]) as About

/** Checks the environment. An empty variable counts as unset; the message of a failure never holds a value. */
export function readSettings(env: NodeJS.ProcessEnv): Settings {
  const given = keys.flatMap(key => {
    const value = env[variable(key)]?.trim()
    return value ? [[key, value]] : []
  })
  const { data, error } = schema.safeParse(Object.fromEntries(given))
  if (data) return data
  const key = error.issues[0]?.path[0] as keyof Settings
  throw new WrongSetting(`${variable(key)} is not valid. Allowed: ${documented(key).allowed}.`)
}

export interface SettingRow {
  name: string
  standard: string
  allowed: string
  meaning: string
}

/** The settings as documentation shows them. */
export function settingRows(): SettingRow[] {
  const defaults = schema.parse({})
  return keys.map(key => {
    const { allowed, meaning, otherwise } = documented(key)
    return { name: variable(key), standard: otherwise ?? String(defaults[key]), allowed, meaning }
  })
}
