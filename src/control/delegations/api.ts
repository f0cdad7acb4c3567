import { z } from 'zod'
import { widening } from '../../identity/passkeys/index.ts'
import { internal, open, operationsFor } from '../../kernel/contract/callers.ts'
import { declareEvent } from '../../kernel/contract/events.ts'
import { notFound, notFoundOrDeleted, type RefusalSpec } from '../../kernel/contract/operation.ts'
import { shownOnceSchema } from '../../kernel/run/outcome.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { moneySchema, positiveMoneySchema } from '../../values/money.ts'
import { labelSchema, recordHead, recordTimestamps } from '../../values/schemas.ts'
import { agentTokenCreatedEvent, agentTokenRevokedEvent } from '../agent-tokens/index.ts'
import { delegationMachine, MAX_DELEGATION_DEPTH } from './delegation.ts'

const status = z.enum(delegationMachine.states)
const merchant = labelSchema.meta({ examples: ['Bookshop'] })

export const DelegationRecord = z
  .object({
    ...recordHead('delegation'),
    agentId: id('agent'),
    parentDelegationId: id('delegation').nullable(),
    label: z.string().nullable(),
    merchant: merchant
      .nullable()
      .meta({ description: 'The only merchant that can be paid. Null: any merchant.' }),
    status,
    maxAmountCents: moneySchema.meta({
      description: 'Cap: the maximum amount that this delegation and all below it hold and spend.',
    }),
    spentCents: moneySchema,
    heldCents: moneySchema.meta({ description: 'Amount held for approved intents.' }),
    remainingCents: moneySchema.meta({
      description:
        'Amount that can still be spent: the smallest amount left among this delegation and those above it. 0 once the delegation has ended.',
    }),
    hint: z.string().meta({ description: 'The last four characters of the code.', examples: ['uQxZ'] }),
    codeExpiresAt: instant,
    expiresAt: instant,
    redeemedAt: instant.nullable(),
    tokenId: id('token').nullable().meta({ description: 'The token that was created for the code.' }),
    revokedAt: instant.nullable(),
    ...recordTimestamps,
  })
  .meta({ id: 'Delegation' })

const CreatedDelegation = DelegationRecord.extend({
  code: shownOnceSchema('dlg_9sVd1rYc8eJf3gLn6pAi5oKt0uQxZ4kQz0uT7hXw2mB'),
}).meta({ id: 'CreatedDelegation' })

const RedeemedDelegation = DelegationRecord.extend({
  token: shownOnceSchema('at_dlg_9sVd1rYc8eJf3gLn6pAi5oKt0uQxZ4kQz0uT7hXw2mB'),
}).meta({ id: 'RedeemedDelegation' })

const DelegationEvent = z.object({
  delegationId: id('delegation'),
  agentId: id('agent'),
  status,
  maxAmountCents: moneySchema,
  expiresAt: instant,
})

export const delegationRevokedEvent = {
  'delegation.revoked': declareEvent(
    'A delegation has been revoked, with all delegations below it.',
    DelegationEvent,
  ),
}

const fails = {
  delegation_not_found: notFound('delegation'),
} as const satisfies Record<string, RefusalSpec>

const readers = operationsFor({ callers: ['key', 'agent'], scope: 'delegations:read' })
const writers = operationsFor({ callers: ['key'], scope: 'delegations:write' })

export const delegationsApi = {
  create: writers.post('/delegations', {
    summary: 'Delegate a part of what an agent may spend',
    description:
      'A delegation has a cap and an expiry. Its `code`, which is shown only once, can be redeemed for a token of the agent. The token can declare intents up to the cap, only for `merchant` if one is set; every other rule of the agent applies as well.\n\nThe code can be redeemed once, within a day and before the delegation expires. A delegation with a `parentDelegationId` is never wider than its parent, and counts against the caps of all delegations above it.',
    body: z.strictObject({
      agentId: id('agent'),
      maxAmountCents: positiveMoneySchema(),
      expiresInMinutes: z
        .int()
        .min(1)
        .max(525_600)
        .meta({ examples: [60] }),
      merchant: merchant.nullable().default(null).meta({
        description: 'The only merchant that can be paid. Defaults to the parent’s merchant, or any.',
      }),
      parentDelegationId: id('delegation').nullable().default(null),
      label: labelSchema
        .nullable()
        .default(null)
        .meta({ examples: ['Subcontractor'] }),
      ...widening.members,
    }),
    example: {
      agentId: 'agent_01jd8x2m4ye7k9v0c3q5r6t8wz',
      maxAmountEuros: 20,
      expiresInMinutes: 60,
      label: 'Subcontractor',
    },
    returns: [201, CreatedDelegation],
    signature: widening.signature,
    fails: {
      ...widening.fails,
      agent_not_found: notFoundOrDeleted('agent'),
      parent_not_found: [404, 'parentDelegationId: no such delegation.'],
      parent_over: [400, 'parentDelegationId: that delegation is revoked or expired.'],
      parent_too_deep: [
        400,
        `parentDelegationId: there are already ${MAX_DELEGATION_DEPTH} delegations above this one. Choose a parent higher up.`,
      ],
      parent_of_other_agent: [400, 'agentId: the parent delegation belongs to another agent.'],
      binding_not_held: [
        403,
        'The calling key is bound to a device (DPoP), and a delegation’s token cannot be. Use a key that is not bound, or the console.',
      ],
      expires_too_late: [
        403,
        'expiresInMinutes: a delegation expires no later than the key that creates it. Choose fewer minutes.',
      ],
      wider_amount: [400, 'maxAmountEuros: this is more than the parent has left. Choose a smaller amount.'],
      wider_time: [400, 'expiresInMinutes: the delegation would outlast its parent. Choose fewer minutes.'],
      wider_merchant: [
        400,
        'merchant: the parent is limited to another merchant. Name that one, or leave merchant out.',
      ],
    },
    emits: {
      ...widening.emits,
      'delegation.created': declareEvent(
        'A part of what an agent may spend has been delegated.',
        DelegationEvent,
      ),
    },
  }),
  redeem: open.post('/delegations/redeem', {
    summary: 'Redeem a code for a token',
    description:
      'The code is the only credential, and it can be redeemed once. The token is shown only once. It can read its agent, policy, wallet and runs, and only those tokens, delegations, intents, transactions and events that belong to its delegation. It stops working when the delegation is revoked or expires.\n\nIf the answer is lost, the owner must create another delegation.',
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
      owner_suspended: [403, 'The account of this delegation is suspended: its codes cannot be redeemed.'],
      code_not_found: [404, 'code: no such code. A code is `dlg_` followed by 43 letters and digits.'],
      code_used: [410, 'code: it has already been redeemed. Ask for a new one.'],
      code_expired: [410, 'code: it has expired. Ask for a new one.'],
      code_revoked: [410, 'code: its delegation has been revoked.'],
    },
    emits: {
      'delegation.redeemed': declareEvent(
        'The code of a delegation has been redeemed for a token.',
        DelegationEvent,
      ),
      ...agentTokenCreatedEvent,
    },
  }),
  list: readers.list('/delegations', {
    readsClock: true,
    summary: 'List delegations',
    description: 'Newest first. The token of a delegation sees only that one.',
    filters: {
      status: status.optional(),
      agentId: id('agent').optional(),
      parentDelegationId: id('delegation').optional(),
    },
    item: DelegationRecord,
  }),
  get: readers.get('/delegations/{id}', {
    readsClock: true,
    summary: 'Get a delegation',
    returns: [200, DelegationRecord],
    fails,
  }),
  revoke: writers.post('/delegations/{id}/revoke', {
    summary: 'Revoke a delegation and all below it',
    description:
      'The tokens stop working immediately, nothing more is approved under the delegations, and their open intents are cancelled, which releases the held money. A SEPA transfer on one of these intents is cancelled if it is not submitted yet. Paid and submitted transfers are not affected.',
    returns: [200, DelegationRecord],
    fails: { ...fails, delegation_over: [400, 'The delegation is already revoked or expired.'] },
    emits: { ...delegationRevokedEvent, ...agentTokenRevokedEvent },
  }),
  /** May be repeated. Changes nothing before the expiry, by the tenant's clock. */
  expire: internal.post('/delegations/{id}/expire', {
    summary: 'Expire a delegation',
    returns: [200, z.object({ expired: z.boolean() })],
    fails,
    emits: {
      'delegation.expired': declareEvent('A delegation has expired.', DelegationEvent),
      ...agentTokenRevokedEvent,
    },
  }),
}
