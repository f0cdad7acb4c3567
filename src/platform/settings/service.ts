import { z } from 'zod'
import { vaultKeySchema } from '../../ports/vault.ts'
import {
  documentSetting,
  hostNameSetting,
  InvalidSettingError,
  integerSetting,
  listSetting,
  patternSetting,
  trustProxySetting,
} from './setting.ts'

export const serviceSettings = {
  port: documentSetting(integerSetting(0, 65_535).default(8080), {
    meaning:
      'Port of the service. If it is set and taken, the start stops; if not set, the next free port from 8080 is used.',
    allowed: '0 to 65535; 0 takes any free port',
  }),
  host: documentSetting(hostNameSetting.default('127.0.0.1'), {
    meaning: 'Address the service listens on. `npm start` uses `localhost` (127.0.0.1 and ::1).',
    allowed: 'an IP address or a host name',
  }),
  cell: documentSetting(patternSetting(/^[a-z]{1,8}\d{1,3}$/).optional(), {
    meaning: 'Name of this cell, if there are several. API keys and agent tokens contain it, for routing.',
    allowed: 'up to eight lower-case letters and one to three digits (c1)',
    otherwise: 'none: one installation',
  }),
  dataDir: documentSetting(z.string().default('.data'), {
    meaning: 'Directory of all data that must survive a restart.',
    allowed: 'a directory',
  }),
  filesDir: documentSetting(z.string().optional(), {
    meaning: 'Directory of uploaded files, encrypted. All processes share it. Back it up with the database.',
    allowed: 'a directory',
    otherwise: '`files` in `DATA_DIR`',
  }),
  filesQuotaMib: documentSetting(integerSetting(1, 1_000_000_000).default(5_120), {
    meaning:
      'Storage quota of one owner in each mode, in MiB. Equal files count once. Uploads above it are refused with `storage_full`.',
    allowed: '1 to 1000000000',
  }),
  filesUrl: documentSetting(z.url({ protocol: /^https?$/ }).optional(), {
    meaning: 'S3-compatible store for uploaded files, instead of `FILES_DIR`.',
    allowed: 'https://host, or http://host:port in your own network',
    otherwise: 'the folder `FILES_DIR`',
  }),
  filesBucket: documentSetting(
    z
      .string()
      .regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/)
      .optional(),
    {
      meaning: 'Bucket of `FILES_URL`. Use it for nothing else.',
      allowed: 'its name',
      otherwise: 'none',
    },
  ),
  filesRegion: documentSetting(z.string().min(1).max(60).optional(), {
    meaning: 'Region of `FILES_URL`, used in request signatures.',
    allowed: 'a region of the store (eu-central-1)',
    otherwise: 'none',
  }),
  filesAccessKeyId: documentSetting(z.string().min(1).max(200).optional(), {
    meaning: 'Access key of `FILES_URL`, with read, write, list and delete permission on the bucket.',
    allowed: 'issued by the store',
    otherwise: 'none',
  }),
  filesSecretKey: documentSetting(z.string().min(1).max(200).optional(), {
    meaning: 'Secret key of `FILES_ACCESS_KEY_ID`.',
    secret: true,
    allowed: 'issued by the store',
    otherwise: 'none',
  }),
  databaseUrl: documentSetting(z.url({ protocol: /^postgres(ql)?$/ }).optional(), {
    meaning: 'PostgreSQL server, version 18 or later.',
    secret: true,
    allowed: 'postgres://user:password@host:port/database',
    otherwise: 'an embedded server',
  }),
  databaseReplicaUrl: documentSetting(z.url({ protocol: /^postgres(ql)?$/ }).optional(), {
    meaning:
      'Streaming replica of `DATABASE_URL`, in the same country, for reports, statements and the forecast.',
    secret: true,
    allowed: 'postgres://user:password@host:port/database',
    otherwise: 'none: the primary answers them',
  }),
  databasePassword: documentSetting(z.string().optional(), {
    meaning: 'Password for database URLs without one.',
    secret: true,
    allowed: 'any text',
    otherwise: 'none',
  }),
  databasePool: documentSetting(integerSetting(2, 200).default(20), {
    meaning:
      'Maximum number of PostgreSQL connections per process. An API process has up to eight more, for long reads.',
    allowed: '2 to 200',
  }),
  dashboardSecret: documentSetting(z.string().min(16).optional(), {
    meaning: 'Credential of the operator, sent as `X-Dashboard-Secret`.',
    secret: true,
    allowed: 'at least 16 characters',
    otherwise: 'generated and kept in `DATA_DIR`',
  }),
  cursorSigningKey: documentSetting(z.string().min(32).optional(), {
    meaning: 'Key that signs pagination cursors. All processes share it.',
    secret: true,
    allowed: 'at least 32 characters',
    otherwise: 'generated and kept in `DATA_DIR`',
  }),
  encryptionKey: documentSetting(vaultKeySchema.optional(), {
    meaning: 'Key that encrypts stored secrets, such as webhook signing secrets. All processes share it.',
    secret: true,
    allowed: '32 bytes, as 64 hexadecimal digits or base64',
    otherwise: 'generated and kept in `DATA_DIR`',
  }),
  encryptionKeysOld: documentSetting(listSetting(vaultKeySchema).optional(), {
    meaning: 'Previous values of `ENCRYPTION_KEY`, which decrypt existing data.',
    secret: true,
    allowed: 'such keys, separated by commas',
    otherwise: 'none',
  }),
  rateLimitPerMinute: documentSetting(integerSetting(1, 1_000_000).default(100), {
    meaning:
      'Requests per minute from one client address, and with one credential from all addresses. The assistants of an owner have four times that together, and do not count for their host’s address. `npm start` sets 1000.',
    allowed: '1 to 1000000',
  }),
  // If every proxy were trusted, a client could name its own address and so pass the rate limit.
  trustProxy: documentSetting(trustProxySetting.default(false), {
    meaning:
      'Proxies whose `X-Forwarded-For` is trusted. Never trust all: clients could forge their address.',
    allowed: 'false, the number of proxies (1 to 10), or their addresses (10.0.0.1,10.1.0.0/16)',
  }),
  keepAliveSeconds: documentSetting(integerSetting(1, 3_600).default(75), {
    meaning:
      'How long an idle client connection stays open, in seconds. Set it higher than the timeout of a load balancer in front.',
    allowed: '1 to 3600',
  }),
  connectionsPerAddress: documentSetting(integerSetting(1, 10_000).default(500), {
    meaning:
      'Maximum number of connections of one client address (for IPv6, a /64) to one process. Proxies in `TRUST_PROXY` are not limited.',
    allowed: '1 to 10000',
  }),
  bodyMemoryMib: documentSetting(integerSetting(8, 4_096).default(32), {
    meaning:
      'Memory per process for request bodies above 64 KiB, in MiB. One client gets at most an eighth; other bodies wait.',
    allowed: '8 to 4096',
  }),
  uploadMemoryMib: documentSetting(integerSetting(16, 4_096).default(64), {
    meaning:
      'Memory per process for bodies with files above 64 KiB, in MiB. A form takes at most 3; JSON and files under inspection take their whole length. One client gets at most an eighth; other bodies wait.',
    allowed: '16 to 4096',
  }),
  backgroundIntervalMs: documentSetting(integerSetting(10, 250).default(100), {
    meaning:
      'Longest pause between two wake-ups of background work (Temporal, webhooks, pushes, event streams), in milliseconds. It is reached above a hundred commits a second.',
    allowed: '10 to 250',
  }),
  backgroundPollSeconds: documentSetting(integerSetting(1, 60).default(5), {
    meaning: 'How often a relay looks for work whose notice was lost because a process died, in seconds.',
    allowed: '1 to 60',
  }),
  logLevel: documentSetting(
    z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
    {
      meaning: 'Lowest severity that is logged.',
      allowed: 'fatal, error, warn, info, debug, trace, silent',
    },
  ),
  logFormat: documentSetting(z.enum(['text', 'json']).optional(), {
    meaning: 'Format of log lines: `text` for people, `json` for programs.',
    allowed: 'text, json',
    otherwise: '`text` for `npm start` and on a terminal, otherwise `json`',
  }),
}

type BucketSettings = {
  readonly [Name in keyof typeof serviceSettings & `files${string}`]?: z.output<
    (typeof serviceSettings)[Name]
  >
}

/** Files for a bucket that is half configured would go to the folder. */
export function assertFiles(settings: BucketSettings): void {
  const bucket = {
    FILES_URL: settings.filesUrl,
    FILES_BUCKET: settings.filesBucket,
    FILES_REGION: settings.filesRegion,
    FILES_ACCESS_KEY_ID: settings.filesAccessKeyId,
    FILES_SECRET_KEY: settings.filesSecretKey,
  }
  const names = Object.keys(bucket) as (keyof typeof bucket)[]
  const unset = names.filter(name => bucket[name] === undefined)
  if (unset.length > 0 && unset.length < names.length)
    throw new InvalidSettingError(
      `A bucket for files needs ${names.join(', ')}, and ${unset[0]} is not set. Set all of them, or none.`,
    )
}

export const complianceSettings = {
  doraWeekendRelief: documentSetting(z.enum(['none', 'final', 'all']).default('none'), {
    meaning:
      'Whether the `final` report of a major incident, or `all` its reports, may wait over a weekend or bank holiday until noon of the next working day (Delegated Regulation (EU) 2025/301, Article 5(4) to (6)).',
    allowed: 'none, final, all',
  }),
  securityContact: documentSetting(z.url({ protocol: /^(mailto|https)$/ }).optional(), {
    meaning: 'Contact for security researchers, published in `/.well-known/security.txt` (RFC 9116).',
    allowed: 'mailto: and an address, or an https URL',
    otherwise: 'none',
  }),
}
