import type { CallerType } from '../../kernel/contract/actor.ts'
import type { AnyOperation } from '../../kernel/contract/operation.ts'
import type { SecurityRequirement, SecurityScheme } from './types.ts'

export const securitySchemes = {
  apiKey: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'sk_…',
    description:
      'A key of the account owner: `sk_sandbox_…` and `sk_test_…` see test data, `sk_live_…` live data. It has every scope unless it was made with fewer.',
  },
  consoleSession: {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-session',
    description:
      'The session of a person in the console, begun at `/login`; on `http://localhost` the cookie is called `session`. The scopes are those of the person’s role. A call that is not a GET needs `Sec-Fetch-Site: same-origin`, as a browser sends it by itself, or where it sends none an `Origin` of this service. `X-Background: true` marks what a page asks by itself: that is no activity.',
  },
  agentToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'at_…',
    description:
      'A token of one agent, `at_test_…` or `at_live_…`: only that agent’s records, and only within its scopes. `at_dlg_…` is that of a delegation: the same, within its cap.',
  },
  dashboardSecret: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Dashboard-Secret',
    description: 'The operator’s secret.',
  },
  payment: {
    type: 'http',
    scheme: 'payment',
    description:
      'The credential of a machine payment, made for the challenge that a 402 gives: `Authorization: Payment <credential>`.',
  },
  signature: {
    type: 'apiKey',
    in: 'header',
    name: 'Card-Processor-Signature',
    description:
      'The signature of the sender over the raw body, in the sender’s own manner: `Card-Processor-Signature` of the sandbox, `Stripe-Signature` of Stripe.',
  },
} as const satisfies Record<string, SecurityScheme>

type SchemeName = keyof typeof securitySchemes

const proofs: Readonly<Record<CallerType, { scheme?: SchemeName; scoped?: true; words: string }>> = {
  key: { scheme: 'apiKey', scoped: true, words: 'an API key' },
  console: { scheme: 'consoleSession', scoped: true, words: 'a console session' },
  agent: { scheme: 'agentToken', scoped: true, words: 'an agent token' },
  dash: { scheme: 'dashboardSecret', words: 'the dashboard secret' },
  signed: { scheme: 'signature', words: 'a signature over the raw body, in the manner of its sender' },
  public: { words: 'nothing: it is public' },
}

export const isTenantCaller = (caller: CallerType): boolean => proofs[caller].scoped === true

/**
 * Any one of these is sufficient. A bearer token has no OAuth scopes, so the array contains the required
 * scope. A public operation that reads `Authorization` takes a payment there, or nothing.
 */
export function securityRequirements({ callers, scope, http }: AnyOperation): SecurityRequirement[] {
  if (http?.reads?.authorization) return [{ payment: [] }, {}]
  return callers.flatMap((caller: CallerType) => {
    const { scheme, scoped } = proofs[caller]
    return scheme ? [{ [scheme]: scoped && scope ? [scope] : [] }] : []
  })
}

/** What most operations need. In the published document, `x-scope` of an operation has the scope once. */
export const usualSecurity: readonly SecurityRequirement[] = [{ apiKey: [] }, { consoleSession: [] }]

export const withoutScope = (security: readonly SecurityRequirement[]): SecurityRequirement[] =>
  security.map(one => Object.fromEntries(Object.keys(one).map(scheme => [scheme, []])))

export function withScope(security: readonly SecurityRequirement[], scope?: string): SecurityRequirement[] {
  const scoped = Object.values(proofs).flatMap(proof => (proof.scoped && scope ? [proof.scheme] : []))
  return security.map(one =>
    Object.fromEntries(
      Object.keys(one).map(scheme => [scheme, scoped.some(name => name === scheme) ? [String(scope)] : []]),
    ),
  )
}

export function describeAccess(security: readonly SecurityRequirement[]): string {
  const schemes = Object.values(proofs).filter(({ scheme }) => scheme && security.some(one => scheme in one))
  const words = schemes.length > 0 ? schemes : [proofs.public]
  return sentence(words, scopeIn(security))
}

const scopeIn = (security: readonly SecurityRequirement[]): string | undefined =>
  security.flatMap(one => Object.values(one).flat())[0]

export function describeOperationAccess({ callers, scope }: AnyOperation): string {
  return sentence(
    callers.map((caller: CallerType) => proofs[caller]),
    scope,
  )
}

const sentence = (proofs: readonly { readonly words: string }[], scope: string | undefined): string =>
  `needs ${proofs.map(({ words }) => words).join(' or ')}${scope ? ` with the scope \`${scope}\`` : ''}.`
