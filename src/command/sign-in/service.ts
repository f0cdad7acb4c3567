import { type CallResult, openCaller } from '../calls/caller.ts'
import type { Context } from '../context.ts'
import { checkedUrl, sandboxOf } from '../credentials.ts'
import { usageError } from '../io.ts'
import { checkName, FIRST_PROFILE, type Profile, profileIn, readKeyFile } from '../key-file.ts'

export interface Target {
  readonly profile: string
  readonly url: string
  readonly earlier: Profile | undefined
}

export interface SignInRequest {
  readonly deviceName: string
  /** Omitted if false, because a service of the version before does not know it. */
  readonly toolWrites?: true
}

const textIn = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

export function targetOf({ io, env, options }: Pick<Context, 'io' | 'env' | 'options'>): Target {
  const file = readKeyFile(io)
  const profile = checkName(textIn(options.profile) ?? file.current ?? FIRST_PROFILE)
  const earlier = profileIn(file, profile)
  const url = textIn(options.url) ?? (env.AGENTPAY_URL || earlier?.url || sandboxOf(env)?.url)
  if (!url)
    throw usageError(
      'No service is configured. Run agentpay login --url https://pay.example.com, or start a sandbox with `npm start`.',
    )
  return { profile, url: checkedUrl(url), earlier }
}

export const callerAt = ({ table, io }: Pick<Context, 'table' | 'io'>, url: string, key?: string) =>
  openCaller({ table, io, connection: { url, key, dashboardSecret: undefined, source: url } })

export const bodyIn = <T>({ status, body }: CallResult): T | undefined =>
  status < 400 ? (body as T) : undefined
