import { z } from 'zod'
import {
  assertionEvents,
  assertionRefusals,
  ChallengeRecord,
  webauthnAssertionSchema,
} from '../../identity/passkeys/index.ts'
import { internal, open, signedIn } from '../../kernel/contract/callers.ts'
import { fileSchema } from '../../kernel/contract/file.ts'
import { oauthErrors } from '../../kernel/contract/oauth-errors.ts'
import {
  doneSchema,
  get,
  notFound,
  notFoundOrDeleted,
  type RefusalSpec,
} from '../../kernel/contract/operation.ts'
import { tokenScopeSetNames } from '../../kernel/contract/scopes.ts'
import { acceptForm } from '../../kernel/contract/upload.ts'
import { shownOnceSchema } from '../../kernel/run/outcome.ts'
import { id } from '../../values/ids.ts'
import { agentTokenCreatedEvent } from '../agent-tokens/index.ts'
import { agentsApi } from '../agents/index.ts'
import { mandateCreatedEvent, mandateTermRefusals, newMandateMembers } from '../mandates/index.ts'
import { MAX_CLIENT_ID, MAX_REDIRECT_URIS, MAX_UNSEEN_CLIENTS } from './client.ts'
import { assistantEvents, endedGrantEvents } from './events.ts'
import { MAX_REDIRECT_URI } from './redirects.ts'

const CODE = 'oac_4kQz0uT7hXw2mB9sVd1rYc8eJf3gLn6pAi5oKt0uQxZ'
const ACCESS = 'at_mcp_4kQz0uT7hXw2mB9sVd1rYc8eJf3gLn6pAi5oKt0uQxZ'

const metadata = {
  callers: ['public'],
  http: { cachedFor: 3_600 },
  returns: [200, fileSchema('application/json')],
} as const

const { invalid_dpop_proof, invalid_grant, invalid_target, invalid_redirect_uri, unsupported_grant_type } =
  oauthErrors

const clientId = z.string().min(1).max(MAX_CLIENT_ID)

/** What a person chooses on the page. */
const choices = {
  ticket: z.string().min(1).max(8_000).meta({ description: 'The request, as the page has shown it.' }),
  ...newMandateMembers,
  agentId: id('agent').nullable().meta({
    description: 'Null: a new agent with the name of the assistant. It is created with the connection.',
  }),
  scopes: z.array(z.enum(tokenScopeSetNames)).min(1).max(tokenScopeSetNames.length),
}

const consentRefusals = {
  request_expired: [
    410,
    'ticket: the request is older than an hour, is not yours, or has been approved. Start again in the assistant.',
  ],
  agent_not_found: notFoundOrDeleted('agent'),
  owner_needed: [403, 'Only an owner can connect an assistant.'],
  ...mandateTermRefusals,
} as const satisfies Record<string, RefusalSpec>

const exampleChoices = {
  ticket: 'b5N2x0aQ.4kQz0uT7hXw2mB9sVd1r',
  agentId: 'agent_01jd8x2m4ye7k9v0c3q5r6t8wz',
  name: null,
  scopes: ['reader' as const],
  expiresAt: '2027-01-31T00:00:00.000Z',
}

export const oauthApi = {
  resource: get('/.well-known/oauth-protected-resource', {
    ...metadata,
    summary: 'Get the metadata of the resource `/mcp`',
    description: 'RFC 9728: which server issues the tokens of assistants.',
  }),
  resourceByPath: get('/.well-known/oauth-protected-resource/mcp', {
    ...metadata,
    summary: 'Get the metadata of `/mcp` at its own address',
  }),
  server: get('/.well-known/oauth-authorization-server/oauth', {
    ...metadata,
    summary: 'Get the endpoints that issue tokens to assistants',
    description: 'RFC 8414. The endpoints of devices and terminals have metadata of their own.',
  }),
  register: open.post('/oauth/register', {
    summary: 'Register a client of assistants',
    description: `RFC 7591, for clients that are not identified by a metadata document. All clients are public ones. A registration whose page of consent no person opens is deleted after 15 minutes, and earlier if your address registers ${MAX_UNSEEN_CLIENTS} newer ones; otherwise, if no person connects it within an hour.`,
    body: z.object({
      client_name: z.string().trim().min(1).max(200).default('An unnamed assistant'),
      redirect_uris: z.array(z.string().max(MAX_REDIRECT_URI)).min(1).max(MAX_REDIRECT_URIS),
    }),
    example: { client_name: 'An assistant', redirect_uris: ['https://assistant.example.com/callback'] },
    returns: [
      201,
      z
        .object({
          client_id: z.string(),
          client_id_issued_at: z.int(),
          client_name: z.string(),
          redirect_uris: z.array(z.string()),
          token_endpoint_auth_method: z.literal('none'),
          grant_types: z.array(z.string()),
          response_types: z.array(z.string()),
        })
        .meta({ id: 'RegisteredClient' }),
    ],
    fails: {
      invalid_redirect_uri,
    },
    emits: { 'assistant.registered': assistantEvents['assistant.registered'] },
  }),
  challenge: signedIn.post('/oauth/options', {
    requires: 'passkeys',
    summary: 'Get the challenge to connect an assistant',
    description:
      'As `POST /mandates/options`: the statement also names the assistant, who has published it, where its answers go, and its tools.',
    body: z.strictObject(choices),
    example: { ...exampleChoices, constraints: { perMonthEuros: 100 } },
    returns: [201, ChallengeRecord],
    fails: { ...consentRefusals, person_not_found: notFound('person') },
    emits: {},
  }),
  approve: signedIn.post('/oauth/approve', {
    summary: 'Connect an assistant',
    description:
      'Called by the page `/oauth/authorize`, for an owner. With `constraints` the person signs a mandate: the assistant pays within it without asking. Without them, a person approves each payment.',
    signature: { challenge: '/oauth/options' },
    body: z.strictObject({
      ...choices,
      constraints: newMandateMembers.constraints.nullable().default(null),
      webauthnAssertion: webauthnAssertionSchema.optional(),
    }),
    example: { ...exampleChoices, constraints: null },
    returns: [
      200,
      z.object({
        id: id('assistant'),
        redirectTo: shownOnceSchema(`https://assistant.example.com/callback?code=${CODE}`),
      }),
    ],
    fails: {
      ...consentRefusals,
      agent_not_active: [400, 'The agent is frozen: unfreeze it first.'],
      approval_needed: [
        400,
        'agentId: a policy in force asks people, and a new agent would have no policy. Choose an agent.',
      ],
      ...assertionRefusals,
    },
    emits: {
      'assistant.approved': assistantEvents['assistant.approved'],
      ...agentsApi.create.emits,
      ...mandateCreatedEvent,
      ...assertionEvents,
    },
  }),
  token: open.post('/oauth/token', {
    summary: 'Get the tokens of an assistant',
    description:
      'RFC 6749: `authorization_code`, with the verifier of PKCE, and `refresh_token`. A code or a refresh token works once; used again, it ends the grant. The access token acts as the agent, at `/mcp` only, for an hour. A client that proves a key (`DPoP`, RFC 9449) gets tokens that work with this key only.',
    http: { reads: { dpop: 'A proof of the client’s key (RFC 9449); optional.' } },
    body: acceptForm(
      z.object({
        grant_type: z.string().max(100),
        client_id: clientId,
        code: z.string().max(200).optional(),
        code_verifier: z.string().max(128).optional(),
        redirect_uri: z.string().max(MAX_REDIRECT_URI).optional(),
        refresh_token: z.string().max(200).optional(),
        resource: z.string().max(2_000).optional(),
      }),
    ),
    example: { grant_type: 'authorization_code', client_id: 'client_01jd8x2m4ye7k9v0c3q5r6t8wz', code: CODE },
    returns: [
      200,
      z
        .object({
          access_token: shownOnceSchema(ACCESS),
          token_type: z.enum(['Bearer', 'DPoP']),
          expires_in: z.int(),
          refresh_token: shownOnceSchema('ort_4kQz0uT7hXw2mB9sVd1rYc8eJf3gLn6pAi5oKt0uQxZ'),
          scope: z.string(),
        })
        .meta({ id: 'AssistantTokens' }),
    ],
    fails: {
      invalid_grant,
      invalid_target,
      unsupported_grant_type,
      invalid_dpop_proof,
    },
    emits: {
      'assistant.connected': assistantEvents['assistant.connected'],
      ...agentTokenCreatedEvent,
      ...endedGrantEvents,
    },
  }),
  revoke: open.post('/oauth/revoke', {
    summary: 'Revoke the tokens of an assistant',
    description: 'RFC 7009: either token ends the grant, with its mandate. An unknown token is no error.',
    body: acceptForm(
      z.object({
        token: z.string().min(1).max(200),
        client_id: clientId,
        token_type_hint: z.string().max(100).optional(),
      }),
    ),
    example: { token: ACCESS, client_id: 'client_01jd8x2m4ye7k9v0c3q5r6t8wz' },
    returns: [200, z.object({})],
    emits: endedGrantEvents,
  }),
  expire: internal.post('/oauth/grants/{id}/expire', {
    summary: 'Expire the grant of an assistant',
    returns: [200, doneSchema],
    fails: { grant_not_found: notFound('grant') },
    emits: endedGrantEvents,
  }),
}
