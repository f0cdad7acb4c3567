import { z } from 'zod'
import { widening } from '../../identity/passkeys/index.ts'
import { operationsFor } from '../../kernel/contract/callers.ts'
import { declareEvent } from '../../kernel/contract/events.ts'
import { notFound, notFoundOrDeleted, type RefusalSpec } from '../../kernel/contract/operation.ts'
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
    'Maximum amount that this token may hold and spend, including by transfers on intents that it did not declare. A card or a machine payment pays only intents that the token declared; the limit of a single-use card whose data the token has counts until the card is closed. Null: the token has no budget of its own.',
})

const used = (description: string) =>
  moneySchema.nullable().meta({ description: `${description} Null if the token has no budget.` })

export const AgentTokenRecord = z
  .object({
    ...recordHead('token'),
    agentId: id('agent'),
    label: z.string(),
    hint: z.string().meta({ description: 'The last four characters of the token.', examples: ['uQxZ'] }),
    scopes: scopeList.meta({ examples: [[...tokenScopeSets.payer]] }),
    maxAmountCents: budget,
    heldCents: used('Amount held for approved intents and pending payments.'),
    spentCents: used('Amount of the budget spent on intents.'),
    remainingCents: used('Remaining budget. 0 once the token is revoked or expired.'),
    delegationId: id('delegation').nullable().meta({
      description: 'The delegation whose cap limits the token. Null unless it is an `at_dlg_…` token.',
    }),
    boundTo: z.string().nullable().meta({
      description:
        'RFC 7638 thumbprint of the key that signs the `DPoP` proof (RFC 9449) of each request. Null if no proof is required.',
    }),
    expiresAt: instant.nullable(),
    lastUsedAt: instant
      .nullable()
      .meta({ description: 'Time of the last use, to the minute. Null if never used.' }),
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

const readers = operationsFor({ callers: ['key', 'agent'], scope: 'tokens:read' })
const writers = operationsFor({ callers: ['key'], scope: 'tokens:write' })

export const agentTokensApi = {
  create: writers.post('/agents/{id}/tokens', {
    summary: 'Create an agent token',
    description: `The agent authenticates with the token, which gives access only to that agent’s records. The secret is shown once, in \`token\`.\n\nWithout \`scopes\`, the token gets ${scopeNames(tokenScopes.given)}, except those that the calling key lacks.`,
    body: z.strictObject({
      label: labelSchema.meta({ examples: ['Laptop'] }),
      scopes: z
        .array(z.enum(requestableScopes))
        .min(1)
        .max(requestableScopes.length)
        .optional()
        .meta({
          description: `Single scopes or named sets: \`reader\` reads everything of the agent and changes nothing; \`payer\` also has ${scopeNames(beyondReading)}. The record lists the scopes of each set.`,
        }),
      maxAmountCents: budget.default(null),
      expiresInDays: z.int().min(1).max(365).nullable().optional().meta({
        description:
          'Days until the token expires. Defaults to the expiry of the calling key. Null: never expires.',
      }),
      publicKeyJwk: proofKeySchema.optional().meta({
        description:
          'The public key (RFC 7517) that verifies the proof (`DPoP`, RFC 9449) of each request: EC P-256 or OKP Ed25519. Required if the API key is key-bound.',
      }),
      ...widening.members,
    }),
    example: {
      label: 'Laptop',
      scopes: ['payer'],
      expiresInDays: 30,
      maxAmountEuros: 100,
    },
    returns: [201, NewToken],
    signature: widening.signature,
    fails: {
      ...widening.fails,
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
    emits: { ...widening.emits, ...agentTokenCreatedEvent },
  }),
  list: readers.list('/agents/{id}/tokens', {
    summary: 'List the tokens of an agent',
    description:
      'Newest first, including revoked tokens, without secrets. The token of a delegation sees only itself.',
    item: AgentTokenRecord,
    fails: { agent_not_found: fails.agent_not_found },
  }),
  listAll: readers.list('/tokens', {
    summary: 'List the tokens of all agents',
    description: 'Newest first, including revoked tokens, without secrets.',
    callers: ['key'],
    filters: { agentId: id('agent').optional() },
    item: AgentTokenRecord,
  }),
  get: readers.getOne('/agents/{id}/tokens/{tokenId}', 'a token of an agent', AgentTokenRecord, {
    token_not_found: fails.token_not_found,
  }),
  revoke: writers.del('/agents/{id}/tokens/{tokenId}', {
    summary: 'Revoke a token of an agent',
    description: 'The token stops working immediately and permanently.',
    returns: [200, AgentTokenRecord],
    fails: { token_not_found: fails.token_not_found, token_revoked: [400, 'The token is already revoked.'] },
    emits: agentTokenRevokedEvent,
  }),
}
