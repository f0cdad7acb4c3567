import { z } from 'zod'
import { event } from '../../kernel/contract/events.ts'
import { del, type Failure, get, gone, list, missing, post } from '../../kernel/contract/operation.ts'
import { scopes, tokenScopes } from '../../kernel/contract/scopes.ts'
import { shownOnce } from '../../kernel/run/outcome.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { euros, positiveEuros } from '../../values/money.ts'
import { label, recordHead, recordTail } from '../../values/schemas.ts'

const scopeList = z.array(z.enum(scopes))

const budget = positiveEuros().nullable().meta({
  description:
    'The most that may be held and spent with this token, whoever has declared what it pays; null: no limit of its own.',
})

const used = (description: string) =>
  euros.nullable().meta({ description: `${description} Null without a budget.` })

export const TokenRecord = z
  .object({
    ...recordHead('token'),
    agentId: id('agent'),
    label: z.string(),
    hint: z.string().meta({ description: 'The last four characters of the token.', examples: ['uQxZ'] }),
    scopes: scopeList,
    maxAmountEuros: budget,
    heldEuros: used(
      'Of its budget: kept for intents that have been approved, and for payments on their way.',
    ),
    spentEuros: used('Of its budget: paid on intents.'),
    remainingEuros: used('What can still be spent of it; 0 once the token is revoked or has expired.'),
    delegationId: id('delegation')
      .nullable()
      .meta({ description: 'Of a token `at_dlg_…`: the delegation whose cap it spends under.' }),
    expiresAt: instant.nullable(),
    lastUsedAt: instant.nullable().meta({ description: 'To the minute.' }),
    revokedAt: instant.nullable(),
    ...recordTail,
  })
  .meta({ id: 'AgentToken' })

const NewToken = TokenRecord.extend({
  token: shownOnce('at_test_9sVd1rYc8eJf3gLn6pAi5oKt0uQxZ4kQz0uT7hXw2mB'),
}).meta({ id: 'NewAgentToken' })

const TokenEvent = z.object({
  tokenId: id('token'),
  agentId: id('agent'),
  label: z.string().max(200),
  expiresAt: instant.nullable(),
  delegationId: id('delegation').optional(),
})

export const TokenCreated = { 'token.created': event('A token of an agent has been made.', TokenEvent) }
export const TokenRevoked = { 'token.revoked': event('A token of an agent has stopped.', TokenEvent) }

const fails = {
  agent_not_found: missing('agent'),
  token_not_found: missing('token'),
} as const satisfies Record<string, Failure>

const scopeNames = (scopes: readonly string[]): string => scopes.map(scope => `\`${scope}\``).join(', ')

export const agentTokensApi = {
  create: post('/agents/{id}/tokens', {
    summary: 'Create an agent token',
    description: `For the agent itself: it reaches that agent’s records and no others. The secret is in \`token\`, this once. Without \`scopes\` it has ${scopeNames(tokenScopes.given)}, as far as the calling key has them. No token can have ${scopeNames(tokenScopes.never)}.`,
    callers: ['key'],
    scope: 'tokens:write',
    body: z.strictObject({
      label: label.meta({ examples: ['Laptop'] }),
      scopes: scopeList.min(1).max(scopes.length).optional(),
      maxAmountEuros: budget.default(null),
      expiresInDays: z
        .int()
        .min(1)
        .max(365)
        .nullable()
        .optional()
        .meta({ description: 'As long as the calling key if left out. Null: until it is revoked.' }),
    }),
    example: {
      label: 'Laptop',
      scopes: ['intents:write', 'intents:read'],
      expiresInDays: 30,
      maxAmountEuros: 100,
    },
    returns: [201, NewToken],
    fails: {
      agent_not_found: gone('agent'),
      scope_never_given: [400, 'scopes: no agent token can have this scope.'],
      expires_too_late: [403, 'expiresInDays: a token ends no later than the key that makes it.'],
      scope_not_held: [403, 'scopes: a token cannot have more than the key that makes it.'],
    },
    emits: TokenCreated,
  }),
  list: list('/agents/{id}/tokens', {
    summary: 'List the tokens of an agent',
    description:
      'Newest first, revoked ones too. A secret is never shown again. The token of a delegation sees itself alone.',
    callers: ['key', 'agent'],
    scope: 'tokens:read',
    item: TokenRecord,
    fails: { agent_not_found: fails.agent_not_found },
  }),
  get: get('/agents/{id}/tokens/{tokenId}', {
    summary: 'Get a token of an agent',
    callers: ['key', 'agent'],
    scope: 'tokens:read',
    returns: [200, TokenRecord],
    fails: { token_not_found: fails.token_not_found },
  }),
  revoke: del('/agents/{id}/tokens/{tokenId}', {
    summary: 'Revoke a token of an agent',
    description: 'It stops at once, for good.',
    callers: ['key'],
    scope: 'tokens:write',
    returns: [200, TokenRecord],
    fails: { token_not_found: fails.token_not_found, token_revoked: [400, 'The token is revoked already.'] },
    emits: TokenRevoked,
  }),
}
