import { createServiceClient, type ServiceAnswer } from '../calls/caller.ts'
import type { CommandContext } from '../context.ts'
import { checkServiceUrl, localSandboxConnection, type ServiceConnection } from '../credentials.ts'
import { usageError } from '../io.ts'
import {
  type CommandProfile,
  checkProfileName,
  DEFAULT_PROFILE,
  findProfile,
  readKeyFile,
} from '../key-file.ts'

export interface SignInTarget {
  readonly profile: string
  readonly url: string
  readonly earlier: CommandProfile | undefined
}

export interface SignInRequest {
  readonly deviceName: string
  /** Omitted if false, because a service of the version before does not know it. */
  readonly toolWrites?: true
}

const textIn = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

export function signInTarget({
  io,
  env,
  options,
}: Pick<CommandContext, 'io' | 'env' | 'options'>): SignInTarget {
  const file = readKeyFile(io)
  const profile = checkProfileName(textIn(options.profile) ?? file.current ?? DEFAULT_PROFILE)
  const earlier = findProfile(file, profile)
  const url = textIn(options.url) ?? (env.AGENTPAY_URL || earlier?.url || localSandboxConnection(env)?.url)
  if (!url)
    throw usageError(
      'No service is configured. Run agentpay login --url https://pay.example.com, or start a sandbox with `npm start`.',
    )
  return { profile, url: checkServiceUrl(url), earlier }
}

export const serviceClientAt = (
  { table, io }: Pick<CommandContext, 'table' | 'io'>,
  url: string,
  { key, dashboardSecret }: Partial<Pick<ServiceConnection, 'key' | 'dashboardSecret'>> = {},
) => createServiceClient({ table, io, connection: { url, key, dashboardSecret, source: url } })

export const bodyIfOk = <T>({ status, body }: ServiceAnswer): T | undefined =>
  status < 300 ? (body as T) : undefined
