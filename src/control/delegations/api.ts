import { z } from 'zod'
import { event } from '../../kernel/contract/events.ts'
import { type Failure, get, gone, list, missing, post } from '../../kernel/contract/operation.ts'
import { shownOnce } from '../../kernel/run/outcome.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { euros, positiveEuros } from '../../values/money.ts'
import { label, recordHead, recordTail } from '../../values/schemas.ts'
import { TokenCreated, TokenRevoked } from '../agent-tokens/index.ts'
import { delegationMachine, MAX_DEPTH } from './delegation.ts'

const status = z.enum(delegationMachine.states)
const merchant = label.meta({ examples: ['Bookshop'] })

export const DelegationRecord = z
  .object({
    ...recordHead('delegation'),
    agentId: id('agent'),
    parentDelegationId: id('delegation').nullable(),
    label: z.string().nullable(),
    merchant: merchant.nullable().meta({ description: 'The only merchant it is good for; null: any.' }),
    status,
    maxAmountEuros: euros.meta({ description: 'Its cap: the most that it and all below it hold and spend.' }),
    spentEuros: euros,
    heldEuros: euros.meta({ description: 'Kept for intents that have been approved.' }),
    remainingEuros: euros.meta({
      description:
        'What can still be spent: the least that it and those above it have left; 0 once it is over.',
    }),
    hint: z.string().meta({ description: 'The last four characters of the code.', examples: ['uQxZ'] }),
    codeExpiresAt: instant,
    expiresAt: instant,
    redeemedAt: instant.nullable(),
    tokenId: id('token').nullable().meta({ description: 'The token that it was redeemed for.' }),
    revokedAt: instant.nullable(),
    ...recordTail,
  })
  .meta({ id: 'Delegation' })

const NewDelegation = DelegationRecord.extend({
  code: shownOnce('dlg_9sVd1rYc8eJf3gLn6pAi5oKt0uQxZ4kQz0uT7hXw2mB'),
}).meta({ id: 'NewDelegation' })

const RedeemedDelegation = DelegationRecord.extend({
  token: shownOnce('at_dlg_9sVd1rYc8eJf3gLn6pAi5oKt0uQxZ4kQz0uT7hXw2mB'),
}).meta({ id: 'RedeemedDelegation' })

const DelegationEvent = z.object({
  delegationId: id('delegation'),
  agentId: id('agent'),
  status,
  maxAmountEuros: euros,
  expiresAt: instant,
})

export const DelegationRevoked = {
  'delegation.revoked': event('A delegation has been revoked, and with it all below it.', DelegationEvent),
}

const fails = {
  delegation_not_found: missing('delegation'),
} as const satisfies Record<string, Failure>

export const delegationsApi = {
  create: post('/delegations', {
    summary: 'Hand on a part of what an agent may spend',
    description:
      'A delegation is a cap with an end. Whoever has its `code`, shown this once, redeems it for a token of the agent that is good for intents up to the cap, for `merchant` alone where one is named; every other rule of the agent holds as well. The code is good once, until the delegation ends and for a day at most. With `parentDelegationId` it is never wider than that one, and what is spent under it counts against that one and all above it too.',
    callers: ['key'],
    scope: 'delegations:write',
    body: z.strictObject({
      agentId: id('agent'),
      maxAmountEuros: positiveEuros(),
      expiresInMinutes: z
        .int()
        .min(1)
        .max(525_600)
        .meta({ examples: [60] }),
      merchant: merchant
        .nullable()
        .default(null)
        .meta({ description: 'Null: that of the parent, or any where there is none.' }),
      parentDelegationId: id('delegation').nullable().default(null),
      label: label
        .nullable()
        .default(null)
        .meta({ examples: ['Subcontractor'] }),
    }),
    example: {
      agentId: 'agent_01jd8x2m4ye7k9v0c3q5r6t8wz',
      maxAmountEuros: 20,
      expiresInMinutes: 60,
      label: 'Subcontractor',
    },
    returns: [201, NewDelegation],
    fails: {
      agent_not_found: gone('agent'),
      parent_not_found: [404, 'parentDelegationId: no such delegation.'],
      parent_over: [400, 'parentDelegationId: that delegation is revoked or expired.'],
      parent_too_deep: [
        400,
        `parentDelegationId: there are ${MAX_DEPTH} delegations above this one already.`,
      ],
      parent_of_other_agent: [400, 'agentId: the parent is a delegation of another agent.'],
      expires_too_late: [403, 'expiresInMinutes: a delegation ends no later than the key that makes it.'],
      wider_amount: [400, 'maxAmountEuros: more than the parent has left.'],
      wider_time: [400, 'expiresInMinutes: longer than the parent lasts.'],
      wider_merchant: [400, 'merchant: the parent is good for another merchant only.'],
    },
    emits: {
      'delegation.created': event('A part of what an agent may spend has been handed on.', DelegationEvent),
    },
  }),
  redeem: post('/delegations/redeem', {
    summary: 'Redeem a code for a token',
    description:
      'For whoever has been given the code: it is all that is asked for, and it is good once. The token, shown this once, reaches its agent, the agent’s policy, wallet and runs, and of tokens, delegations, intents, transactions and events its own and what is made with it. It stops when the delegation is revoked or expires. An answer that is lost is not shown again: the owner makes another delegation.',
    callers: ['public'],
    body: z.strictObject({
      code: z
        .string()
        .min(1)
        .max(200)
        .meta({ examples: ['dlg_9sVd1rYc8eJf3gLn6pAi5oKt0uQxZ4kQz0uT7hXw2mB'] }),
    }),
    example: { code: 'dlg_01jd8x2m4ye7k9v0c3q5r6t8wz' },
    returns: [201, RedeemedDelegation],
    fails: {
      owner_suspended: [403, 'The account of this delegation is suspended: nothing is given for its codes.'],
      code_not_found: [404, 'code: there is no such code. It is `dlg_` and 43 letters and digits.'],
      code_used: [410, 'code: it has been redeemed. Ask for another one.'],
      code_expired: [410, 'code: it has expired. Ask for another one.'],
      code_revoked: [410, 'code: its delegation has been revoked.'],
    },
    emits: {
      'delegation.redeemed': event(
        'The code of a delegation has been redeemed for a token.',
        DelegationEvent,
      ),
      ...TokenCreated,
    },
  }),
  list: list('/delegations', {
    summary: 'List delegations',
    description: 'Newest first. A token of a delegation sees its own.',
    callers: ['key', 'agent'],
    scope: 'delegations:read',
    filters: {
      status: status.optional(),
      agentId: id('agent').optional(),
      parentDelegationId: id('delegation').optional(),
    },
    item: DelegationRecord,
  }),
  get: get('/delegations/{id}', {
    summary: 'Get a delegation, with what is left of its cap',
    callers: ['key', 'agent'],
    scope: 'delegations:read',
    returns: [200, DelegationRecord],
    fails,
  }),
  revoke: post('/delegations/{id}/revoke', {
    summary: 'Revoke a delegation and all below it',
    description:
      'At once and for good: their tokens stop, nothing more is approved under them, and what is open of their intents is cancelled, so that money held for them is free again. A SEPA transfer on one of them that has not left yet is cancelled; what has been paid, or has left, stays so.',
    callers: ['key'],
    scope: 'delegations:write',
    returns: [200, DelegationRecord],
    fails: { ...fails, delegation_over: [400, 'The delegation is revoked or expired already.'] },
    emits: { ...DelegationRevoked, ...TokenRevoked },
  }),
  /** Changes nothing before the expiry, by the tenant's clock, and nothing when it is repeated. */
  expire: post('/delegations/{id}/expire', {
    summary: 'End a delegation whose time is over',
    callers: [],
    returns: [200, z.object({ expired: z.boolean() })],
    fails,
    emits: {
      'delegation.expired': event('The time of a delegation is over.', DelegationEvent),
      ...TokenRevoked,
    },
  }),
}
