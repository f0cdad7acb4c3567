import type { ReadContext } from '../../kernel/contract/context.ts'
import type { Ports } from '../../kernel/contract/ports.ts'
import type { TokenScopeSet } from '../../kernel/contract/scopes.ts'
import type { StatedAssistant } from '../../statements/index.ts'
import { clock } from '../../values/clock.ts'
import { newId } from '../../values/ids.ts'
import { CONSENT_TTL_MS, type ConnectingClient, findConnectingClient } from './client.ts'
import { isAtHost, isRegisteredRedirect, redirectPlace, withParameters } from './redirects.ts'

/** The path of the operation that accepts the tokens, and of the resource that clients name (RFC 8707). */
export const MCP_PATH = '/mcp'

export const issuerOf = ({ publicUrl }: Pick<Ports, 'publicUrl'>): string => `${publicUrl()}/oauth`
export const resourceOf = ({ publicUrl }: Pick<Ports, 'publicUrl'>): string => publicUrl() + MCP_PATH

export type AuthorizationParameters = Readonly<Record<string, string | undefined>>

/** What a client asks a person for, once it has been checked. */
export interface AuthorizationRequest {
  /** The grant that an approval makes gets this id, so a second approval finds it. */
  readonly grantId: string
  /** A new agent, which an approval may create, gets this id. */
  readonly newAgentId: string
  readonly client: Omit<ConnectingClient, 'redirectUris'>
  readonly redirectUri: string
  readonly state?: string | undefined
  readonly codeChallenge: string
  /** The thumbprint of the client's key, if it has bound the code to it. */
  readonly dpopJkt?: string | undefined
  readonly mayPay: boolean
}

/**
 * Anyone may publish or register a client, so a wrong request never redirects by itself (RFC 9700, 4.11.2): the page
 * says what is wrong. Where the address is one of the client's, `answerAt` tells it to the client.
 */
export type CheckedAuthorization =
  | { readonly request: AuthorizationRequest }
  | { readonly invalid: 'client_unknown' | 'redirect_unknown' }
  | { readonly invalid: 'request_invalid'; readonly error: string; readonly answerAt: string }

/** A digest by SHA-256 in base64url. */
const DIGEST = /^[\w-]{43}$/

function errorIn(parameters: AuthorizationParameters, ports: Pick<Ports, 'publicUrl'>): string | undefined {
  if (parameters.response_type !== 'code') return 'unsupported_response_type'
  if (parameters.response_mode !== undefined && parameters.response_mode !== 'query') return 'invalid_request'
  if (parameters.code_challenge_method !== 'S256') return 'invalid_request'
  if (!DIGEST.test(parameters.code_challenge ?? '')) return 'invalid_request'
  if (parameters.dpop_jkt !== undefined && !DIGEST.test(parameters.dpop_jkt)) return 'invalid_request'
  return parameters.resource === resourceOf(ports) ? undefined : 'invalid_target'
}

/** `iss` lets a client of several servers notice an answer of the wrong one (RFC 9207). */
export const authorizationAnswer = (
  { redirectUri, state }: Pick<AuthorizationRequest, 'redirectUri' | 'state'>,
  answer: Readonly<Record<string, string>>,
  ports: Pick<Ports, 'publicUrl'>,
): string => withParameters(redirectUri, { ...answer, state, iss: issuerOf(ports) })

/** What the person lets in, as the signature names it. */
export const statedAssistant = (
  request: AuthorizationRequest,
  scopes: readonly TokenScopeSet[],
): StatedAssistant => ({
  name: request.client.name,
  host: request.client.host,
  redirectsTo: redirectPlace(request.redirectUri),
  tools: grantedScopes(request, scopes),
})

/** A client that asked to read only gets no more. */
export const grantedScopes = (
  { mayPay }: AuthorizationRequest,
  scopes: readonly TokenScopeSet[],
): readonly TokenScopeSet[] => (mayPay ? scopes : ['reader'])

/** Scopes that the server does not know are left out, as OAuth allows: clients often ask for all they know. */
const asksToPay = (scope: string | undefined): boolean =>
  scope === undefined || !scope.split(' ').includes('reader') || scope.split(' ').includes('payer')

export async function checkAuthorization(
  parameters: AuthorizationParameters,
  context: ReadContext,
): Promise<CheckedAuthorization> {
  const { ports } = context
  const found = await findConnectingClient(parameters.client_id ?? '', context)
  if (!found) return { invalid: 'client_unknown' }
  const { redirectUris, host, ...client } = found
  const { redirect_uri: redirectUri = '', state, scope, code_challenge: codeChallenge = '' } = parameters
  if (!isRegisteredRedirect(redirectUri, redirectUris)) return { invalid: 'redirect_unknown' }
  const error = errorIn(parameters, ports)
  if (error) {
    const answerAt = authorizationAnswer({ redirectUri, state }, { error }, ports)
    return { invalid: 'request_invalid', error, answerAt }
  }
  return {
    request: {
      grantId: newId('assistant'),
      newAgentId: newId('agent'),
      client: { ...client, host: isAtHost(redirectUri, host) ? host : null },
      redirectUri,
      state,
      codeChallenge,
      dpopJkt: parameters.dpop_jkt,
      mayPay: asksToPay(scope),
    },
  }
}

const purposeOf = ({ tenant: { ownerId, mode }, actor }: ReadContext): string =>
  `oauth-consent:${ownerId} ${mode} ${actor.id}`

/** The request as the page showed it to this person, so that exactly that is approved. */
export const sealRequest = (request: AuthorizationRequest, context: ReadContext): string =>
  context.ports.vault.seal(
    JSON.stringify({ request, until: clock.milliseconds() + CONSENT_TTL_MS }),
    purposeOf(context),
  )

export function openRequest(ticket: string, context: ReadContext): AuthorizationRequest | undefined {
  try {
    const { request, until } = JSON.parse(context.ports.vault.open(ticket, purposeOf(context)))
    return until > clock.milliseconds() ? request : undefined
  } catch {
    return undefined
  }
}
