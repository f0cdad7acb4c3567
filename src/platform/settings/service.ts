import { z } from 'zod'
import { encryptionKey } from '../../ports/vault.ts'
import { about, hostName, integer, listOf, trustProxy } from './setting.ts'

export const serviceSettings = {
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
  filesDir: about(z.string().optional(), {
    meaning:
      'Where uploaded files are kept, encrypted; the same for all processes, and backed up with the database.',
    allowed: 'a directory',
    otherwise: '`files` in `DATA_DIR`',
  }),
  filesQuotaMib: about(integer(1, 1_000_000_000).default(5_120), {
    meaning:
      'Room for the files of one owner in each mode, in MiB: receipts and evidence with the pictures made of them, equal files once. What needs more is refused as `storage_full`.',
    allowed: '1 to 1000000000',
  }),
  filesUrl: about(z.url({ protocol: /^https?$/ }).optional(), {
    meaning:
      'S3-compatible store in which uploaded files are kept in place of `FILES_DIR`: no process needs a folder then.',
    allowed: 'https://host, or http://host:port in your own network',
    otherwise: 'the folder `FILES_DIR`',
  }),
  filesBucket: about(
    z
      .string()
      .regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/)
      .optional(),
    {
      meaning: 'Bucket of `FILES_URL`; nothing else should lie in it.',
      allowed: 'its name',
      otherwise: 'none',
    },
  ),
  filesRegion: about(z.string().min(1).max(60).default('us-east-1'), {
    meaning: 'Region of `FILES_URL`, for which requests are signed.',
    allowed: 'as the store calls it',
  }),
  filesAccessKeyId: about(z.string().min(1).max(200).optional(), {
    meaning: 'Access key of `FILES_URL`: it may read, write, list and delete in the bucket.',
    allowed: 'as the store has given it',
    otherwise: 'none',
  }),
  filesSecretKey: about(z.string().min(1).max(200).optional(), {
    meaning: 'Secret key that belongs to `FILES_ACCESS_KEY_ID`.',
    secret: true,
    allowed: 'as the store has given it',
    otherwise: 'none',
  }),
  databaseUrl: about(z.url({ protocol: /^postgres(ql)?$/ }).optional(), {
    meaning: 'PostgreSQL to use, 18 or later.',
    secret: true,
    allowed: 'postgres://user:password@host:port/database',
    otherwise: 'an embedded server',
  }),
  databasePassword: about(z.string().optional(), {
    meaning: 'Password that goes into a `DATABASE_URL` that has none.',
    secret: true,
    allowed: 'any text',
    otherwise: 'none',
  }),
  databasePool: about(integer(2, 200).default(20), {
    meaning: 'Most connections one process opens to PostgreSQL.',
    allowed: '2 to 200',
  }),
  dashboardSecret: about(z.string().min(16).optional(), {
    meaning: 'Secret of the operator of this installation, who sends it as `X-Dashboard-Secret`.',
    secret: true,
    allowed: 'at least 16 characters',
    otherwise: 'generated and kept in `DATA_DIR`',
  }),
  secretKey: about(z.string().min(32).optional(), {
    meaning: 'Key that signs page cursors; the same for all processes.',
    secret: true,
    allowed: 'at least 32 characters',
    otherwise: 'generated and kept in `DATA_DIR`',
  }),
  encryptionKey: about(encryptionKey.optional(), {
    meaning:
      'Key that seals what is kept and must be read again, such as the keys that sign webhooks; the same for all processes.',
    secret: true,
    allowed: '32 bytes, as 64 hexadecimal digits or base64',
    otherwise: 'generated and kept in `DATA_DIR`',
  }),
  encryptionKeysOld: about(listOf(encryptionKey).optional(), {
    meaning: 'Keys that `ENCRYPTION_KEY` was before. They open what they have sealed, and seal nothing.',
    secret: true,
    allowed: 'such keys, with commas between them',
    otherwise: 'none',
  }),
  rateLimitPerMinute: about(integer(1, 1_000_000).default(100), {
    meaning: 'Requests a minute that one client address may make.',
    allowed: '1 to 1000000',
  }),
  // If every proxy were trusted, a client could name its own address and so pass the rate limit.
  trustProxy: about(trustProxy.default(false), {
    meaning:
      'Proxies whose `X-Forwarded-For` is believed. Never all of them: a client could then forge its address.',
    allowed: 'false, the number of proxies (1 to 10), or their addresses (10.0.0.1,10.1.0.0/16)',
  }),
  keepAliveSeconds: about(integer(1, 3_600).default(75), {
    meaning:
      'How long an idle connection of a client is kept, in seconds. Behind a load balancer: longer than it keeps its own.',
    allowed: '1 to 3600',
  }),
  connectionsPerAddress: about(integer(1, 10_000).default(500), {
    meaning:
      'Connections that one client address (of IPv6, a /64) may have to one process. A proxy of `TRUST_PROXY` may have any number.',
    allowed: '1 to 10000',
  }),
  bodyMemoryMib: about(integer(8, 4_096).default(32), {
    meaning:
      'Memory of one process for bodies above 64 KiB that are on their way, in MiB; one client has an eighth of it. Others wait, unread.',
    allowed: '8 to 4096',
  }),
  uploadMemoryMib: about(integer(16, 4_096).default(64), {
    meaning:
      'Memory of one process for bodies with files above 64 KiB, in MiB: a form takes 3 at most, as its files are written while they arrive; JSON, and what is looked at, its whole length. A client takes an eighth. Others wait, unread.',
    allowed: '16 to 4096',
  }),
  logLevel: about(z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'), {
    meaning: 'Least severe log lines that are written.',
    allowed: 'fatal, error, warn, info, debug, trace, silent',
  }),
}

export const complianceSettings = {
  doraWeekendRelief: about(z.enum(['none', 'final', 'all']).default('none'), {
    meaning:
      'Whether a report of a major incident that is due on a weekend or bank holiday may wait until noon of the next working day (Delegated Regulation (EU) 2025/301, Article 5(4) to (6)). `final`: the final report only, as credit institutions and some others may. `all`: each of them.',
    allowed: 'none, final, all',
  }),
  securityContact: about(z.url({ protocol: /^(mailto|https)$/ }).optional(), {
    meaning:
      'To whom people turn who have found a weakness: `/.well-known/security.txt` names it (RFC 9116). Without it there is no such file.',
    allowed: 'mailto: and an address, or an https URL',
    otherwise: 'none',
  }),
}
