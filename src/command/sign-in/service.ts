import { type Called, openCaller } from '../calls/caller.ts'
import type { Context } from '../context.ts'
import { checkedUrl, sandboxOf } from '../credentials.ts'
import { usageError } from '../io.ts'
import { checkName, FIRST_PROFILE, type Profile, profileIn, readKeyFile } from '../key-file.ts'

/** Where somebody signs in, and under which name the key will be kept. */
export interface Target {
  readonly profile: string
  readonly url: string
  /** What the profile holds until then. */
  readonly earlier: Profile | undefined
}

/** For what somebody signs in: the name of the machine, and whether assistants are to change things with the key. */
export interface SignInWish {
  readonly deviceName: string
  /** Left out where they are not, as a service of a version before does not know it. */
  readonly toolWrites?: true
}

const textIn = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

/** The service that is named, that of the environment, of the profile, or the sandbox of `npm start`. */
export function targetOf({ io, env, options }: Pick<Context, 'io' | 'env' | 'options'>): Target {
  const file = readKeyFile(io)
  const profile = checkName(textIn(options.profile) ?? file.current ?? FIRST_PROFILE)
  const earlier = profileIn(file, profile)
  const url = textIn(options.url) ?? (env.AGENTPAY_URL || earlier?.url || sandboxOf(env)?.url)
  if (!url)
    throw usageError(
      'Where is the service? agentpay login --url https://pay.example.com, or start a sandbox with `npm start`.',
    )
  return { profile, url: checkedUrl(url), earlier }
}

/** Makes calls at an address, with a key or with none. */
export const callerAt = ({ table, io }: Pick<Context, 'table' | 'io'>, url: string, key?: string) =>
  openCaller({ table, io, connection: { url, key, dashboardSecret: undefined, source: url } })

/** The body of an answer as the table says; undefined where it is a refusal. */
export const bodyIn = <T>({ status, body }: Called): T | undefined => (status < 400 ? (body as T) : undefined)
