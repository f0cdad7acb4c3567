import { hash, timingSafeEqual } from 'node:crypto'
import type { Actor, CallerType } from '../../kernel/contract/actor.ts'
import { type AnyOperation, beginsSession } from '../../kernel/contract/operation.ts'
import { Problem } from '../../kernel/contract/problem.ts'
import { SESSION_SECRET_PREFIX } from '../../kernel/contract/session-cookie.ts'
import type { CredentialLookup } from './credentials.ts'
import type { BrowserCredentials, RequestCredentials } from './request-credentials.ts'
import type { ProvePossession } from './used-proofs.ts'

const noTenant = { id: null, tenant: null, agentId: null, scopes: new Set<string>() }
export const publicActor: Actor = { type: 'public', ...noTenant }
export const dashboardActor: Actor = { type: 'dash', ...noTenant }

const digest = (secret: string): Buffer => hash('sha256', secret, 'buffer')

/**
 * Finds the actor of these credentials; throws a Problem if there is none. Results older than `trustedFor`
 * milliseconds are looked up again.
 */
export type Authenticator = (
  operation: AnyOperation,
  presented: RequestCredentials,
  trustedFor?: number,
) => Promise<Actor>

export function createAuthenticator(
  { holderOf }: Pick<CredentialLookup, 'holderOf'>,
  dashboardSecret: string,
  prove: ProvePossession,
  publicUrl: () => string = () => '',
): Authenticator {
  const expected = digest(dashboardSecret)

  /**
   * Finds the holder of the key or token. Without one, and without the dashboard secret, it is the person of
   * the session.
   */
  async function actorOf(presented: RequestCredentials, trustedFor: number | undefined) {
    const { authorization, dashboardSecret: given, browser } = presented
    if (authorization === undefined && given === undefined) return browser && personOf(browser, trustedFor)
    const [, scheme, token] = /^(Bearer|DPoP) +([\w-]{8,200})$/i.exec(authorization ?? '') ?? []
    if (!token || token.startsWith(SESSION_SECRET_PREFIX)) return undefined
    const holder = await holderOf(token, false, trustedFor)
    if (!fitsScheme(String(scheme), holder)) return undefined
    // A proof counts once. A repeated check has no new proof, and the request has passed it already.
    if (holder?.boundTo && trustedFor === undefined) await prove(presented, token, holder.boundTo)
    return holder
  }

  async function personOf(
    browser: BrowserCredentials,
    trustedFor: number | undefined,
  ): Promise<Actor | undefined> {
    const { session, isReading, isBackground } = browser
    if (session === undefined) return undefined
    if (!isReading) requireOurPage(browser)
    return holderOf(session, isBackground, trustedFor)
  }

  return async (operation, presented, trustedFor) => {
    const { callers, scope } = operation
    const { authorization, dashboardSecret: given } = presented
    if (beginsSession(operation)) requireOurPage(presented.browser)
    if (callers.includes('public')) return publicActor
    const isDashboard = given !== undefined && timingSafeEqual(digest(given), expected)
    if (isDashboard && (callers.includes('dash') || !authorization))
      return requireAuthorized(dashboardActor, callers)
    const actor = await actorOf(presented, trustedFor)
    if (actor) return requireAuthorized(usableAt(operation, actor), callers, scope)
    throw new Problem('unauthenticated', operation.http?.howToSignIn ?? wanted(callers, given), {
      'WWW-Authenticate': challengeOf(operation, publicUrl()),
    })
  }
}

/** RFC 9728: the metadata of the resource names the server that issues tokens for it. */
function challengeOf({ http, path }: AnyOperation, url: string): string {
  if (!http?.issuesTokens) return 'Bearer'
  return `Bearer resource_metadata="${url}/.well-known/oauth-protected-resource${path}"`
}

/** A token that was issued as `DPoP` is none as `Bearer` (RFC 9449, 7.1). Bound keys of devices are sent as either. */
function fitsScheme(scheme: string, holder: Actor | undefined): boolean {
  if (scheme.toLowerCase() === 'dpop') return Boolean(holder?.boundTo)
  return !holder?.boundTo || holder.onlyAt === undefined
}

function usableAt({ path }: AnyOperation, actor: Actor): Actor {
  if (actor.onlyAt === undefined || actor.onlyAt === path) return actor
  throw new Problem('wrong_caller', `This token was issued for ${actor.onlyAt} only.`)
}

/** The browser also sends the cookie with requests that other sites trigger. Such a request must change nothing. */
function requireOurPage(browser: BrowserCredentials | undefined): void {
  if (!browser?.isOfOurPage) throw new Problem('cross_site')
}

function wanted(callers: AnyOperation['callers'], given: string | undefined): string | undefined {
  if (callers.every(caller => caller === 'console'))
    return 'Sign in at /login: this is for people in the console.'
  if (!callers.includes('dash')) return undefined
  if (given) return 'X-Dashboard-Secret: this is not the secret of this installation.'
  return callers.length === 1
    ? 'Send the dashboard secret of this installation: X-Dashboard-Secret: <secret>.'
    : 'Send a valid key or token (Authorization: Bearer <token>) or the dashboard secret (X-Dashboard-Secret: <secret>).'
}

const callerDescriptions: Readonly<Record<Actor['type'], string>> = {
  key: 'an API key',
  console: 'a person’s session in the console',
  agent: 'an agent token',
  dash: 'the dashboard secret in X-Dashboard-Secret',
  public: 'no credential',
  signed: 'a message that its sender has signed',
  process: 'a process of ours',
  operator: 'a signal',
} satisfies Record<CallerType | Actor['type'], string>

export function requireAuthorized(actor: Actor, callers: AnyOperation['callers'], scope?: string): Actor {
  if (!callers.some(caller => caller === actor.type)) {
    const allowed = callers.map(caller => callerDescriptions[caller]).join(' or ')
    throw new Problem(
      'wrong_caller',
      `This operation takes ${allowed}; you sent ${callerDescriptions[actor.type]}.`,
    )
  }
  if (scope && actor.type !== 'dash' && !actor.scopes.has(scope))
    throw new Problem('missing_scope', missingScope(actor, scope))
  return actor
}

const missingScope = ({ type }: Actor, scope: string): string =>
  type === 'console'
    ? `Your role in the console lacks the scope ${scope}: ask an owner.`
    : `The credential lacks the scope ${scope}.`
