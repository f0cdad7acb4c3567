import { z } from 'zod'
import { declareEvent } from '../../kernel/contract/events.ts'
import {
  del,
  get,
  list,
  notFound,
  notFoundOrDeleted,
  post,
  type RefusalSpec,
} from '../../kernel/contract/operation.ts'
import {
  allScopeNames,
  tokenScopeSetNames,
  tokenScopeSets,
  tokenScopes,
} from '../../kernel/contract/scopes.ts'
import { shownOnceSchema } from '../../kernel/run/outcome.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { moneySchema, positiveMoneySchema } from '../../values/money.ts'
import { proofKeySchema } from '../../values/proof-key.ts'
import { labelSchema, recordHead, recordTimestamps } from '../../values/schemas.ts'

const scopeList = z.array(z.enum(allScopeNames))

const requestableScopes = [...tokenScopeSetNames, ...tokenScopes.possible] as const

const budget = positiveMoneySchema().nullable().meta({
  description:
    'The most that this token may hold and spend, including on intents that it did not declare. Null: no limit of its own.',
})

const used = (description: string) =>
  moneySchema.nullable().meta({ description: `${description} Null without a budget.` })

export const AgentTokenRecord = z
  .object({
    ...recordHead('token'),
    agentId: id('agent'),
    label: z.string(),
    hint: z.string().meta({ description: 'The last four characters of the token.', examples: ['uQxZ'] }),
    scopes: scopeList.meta({ examples: [[...tokenScopeSets.payer]] }),
    maxAmountCents: budget,
    heldCents: used('Held for approved intents and for pending payments.'),
    spentCents: used('Spent of the budget on intents.'),
    remainingCents: used('Left of the budget; 0 once the token is revoked or has expired.'),
    delegationId: id('delegation').nullable().meta({
      description: 'The delegation whose cap the token spends under; null unless it is a token `at_dlg_…`.',
    }),
    boundTo: z.string().nullable().meta({
      description:
        'The thumbprint (RFC 7638) of the key whose proof (`DPoP`, RFC 9449) each request carries; null where none is asked for.',
    }),
    expiresAt: instant.nullable(),
    lastUsedAt: instant.nullable().meta({ description: 'To the minute; null if never.' }),
    revokedAt: instant.nullable(),
    ...recordTimestamps,
  })
  .meta({ id: 'AgentToken' })

const NewToken = AgentTokenRecord.extend({
  token: shownOnceSchema('at_test_9sVd1rYc8eJf3gLn6pAi5oKt0uQxZ4kQz0uT7hXw2mB'),
}).meta({ id: 'CreatedAgentToken' })

const TokenEvent = z.object({
  tokenId: id('token'),
  agentId: id('agent'),
  label: z.string().max(200),
  expiresAt: instant.nullable(),
  delegationId: id('delegation').optional(),
})

export const agentTokenCreatedEvent = {
  'token.created': declareEvent('An agent token has been created.', TokenEvent),
}
export const agentTokenRevokedEvent = {
  'token.revoked': declareEvent('An agent token has been revoked.', TokenEvent),
}

const fails = {
  agent_not_found: notFound('agent'),
  token_not_found: notFound('token'),
} as const satisfies Record<string, RefusalSpec>

const scopeNames = (scopes: readonly string[]): string => scopes.map(scope => `\`${scope}\``).join(', ')

const beyondReading = tokenScopeSets.payer.filter(
  scope => !tokenScopeSets.reader.some(read => read === scope),
)

export const agentTokensApi = {
  create: post('/agents/{id}/tokens', {
    summary: 'Create an agent token',
    description: `The agent authenticates with the token, which reaches only that agent’s records. Its secret is shown in \`token\`, only once.\n\nWithout \`scopes\` it gets ${scopeNames(tokenScopes.given)}, as far as the calling key has them.`,
    callers: ['key'],
    scope: 'tokens:write',
    body: z.strictObject({
      label: labelSchema.meta({ examples: ['Laptop'] }),
      scopes: z
        .array(z.enum(requestableScopes))
        .min(1)
        .max(requestableScopes.length)
        .optional()
        .meta({
          description: `Single scopes, or sets by name: \`reader\` reads everything of the agent and changes nothing; \`payer\` also has ${scopeNames(beyondReading)}. The record lists the scopes of each set.`,
        }),
      maxAmountCents: budget.default(null),
      expiresInDays: z
        .int()
        .min(1)
        .max(365)
        .nullable()
        .optional()
        .meta({ description: 'If left out, the token expires with the calling key. Null: never.' }),
      publicKeyJwk: proofKeySchema.optional().meta({
        description:
          'The public key (RFC 7517) by which the agent proves each request (`DPoP`, RFC 9449): EC P-256 or OKP Ed25519. A key-bound API key must set it.',
      }),
    }),
    example: {
      label: 'Laptop',
      scopes: ['payer'],
      expiresInDays: 30,
      maxAmountEuros: 100,
    },
    returns: [201, NewToken],
    fails: {
      agent_not_found: notFoundOrDeleted('agent'),
      binding_needed: [
        403,
        'publicKeyJwk: the calling key is bound to a device (DPoP), so its tokens must be, too. Set the public key with which the agent signs its proofs.',
      ],
      expires_too_late: [
        403,
        'expiresInDays: a token expires no later than the key that creates it. Choose fewer days.',
      ],
      scope_not_held: [
        403,
        'scopes: a token cannot have more scopes than the key that creates it. Choose fewer scopes.',
      ],
    },
    emits: agentTokenCreatedEvent,
  }),
  list: list('/agents/{id}/tokens', {
    summary: 'List the tokens of an agent',
    description:
      'Newest first, including revoked ones, without their secrets. The token of a delegation sees only itself.',
    callers: ['key', 'agent'],
    scope: 'tokens:read',
    item: AgentTokenRecord,
    fails: { agent_not_found: fails.agent_not_found },
  }),
  listAll: list('/tokens', {
    summary: 'List the tokens of all agents',
    description: 'Newest first, including revoked ones, without their secrets.',
    callers: ['key'],
    scope: 'tokens:read',
    filters: { agentId: id('agent').optional() },
    item: AgentTokenRecord,
  }),
  get: get('/agents/{id}/tokens/{tokenId}', {
    summary: 'Get a token of an agent',
    callers: ['key', 'agent'],
    scope: 'tokens:read',
    returns: [200, AgentTokenRecord],
    fails: { token_not_found: fails.token_not_found },
  }),
  revoke: del('/agents/{id}/tokens/{tokenId}', {
    summary: 'Revoke a token of an agent',
    description: 'The token stops working immediately and permanently.',
    callers: ['key'],
    scope: 'tokens:write',
    returns: [200, AgentTokenRecord],
    fails: { token_not_found: fails.token_not_found, token_revoked: [400, 'The token is revoked already.'] },
    emits: agentTokenRevokedEvent,
  }),
}
