import { z } from 'zod'
import { stepRefusals } from '../../identity/approvals/index.ts'
import { widening } from '../../identity/passkeys/index.ts'
import { operationsFor } from '../../kernel/contract/callers.ts'
import { declareEvent } from '../../kernel/contract/events.ts'
import { notFound, notFoundOrDeleted, type RefusalSpec } from '../../kernel/contract/operation.ts'
import { step } from '../../kernel/contract/step.ts'
import { purseRefusal, WalletEvent } from '../../money/wallets/index.ts'
import { id } from '../../values/ids.ts'
import { moneySchema, positiveMoneySchema } from '../../values/money.ts'
import {
  freeTextSchema,
  inputMetadataSchema,
  labelSchema,
  metadataSchema,
  recordHead,
  recordTimestamps,
  searchTextSchema,
} from '../../values/schemas.ts'
import { agentMachine } from './agent.ts'
import { newAgentRefusals } from './widening.ts'

const status = z.enum(agentMachine.states)

export const AgentRecord = z
  .object({
    ...recordHead('agent'),
    name: z.string(),
    description: z.string().nullable(),
    externalId: z.string().nullable(),
    status,
    frozenReason: z.string().nullable(),
    frozenByAlertId: id('alert').nullable().meta({
      description:
        'The risk alert that froze the agent; `POST /risk/agents/{id}/unfreeze` closes it. Null if a person froze it.',
    }),
    walletId: id('wallet').meta({ description: 'The wallet that the agent spends from.' }),
    policyId: id('policy')
      .nullable()
      .meta({ description: 'The agent’s own policy. Null: every intent waits for a person.' }),
    metadata: metadataSchema,
    ...recordTimestamps,
  })
  .meta({ id: 'Agent' })

export const AgentEvent = z.object({ agentId: id('agent'), status, reason: z.string().max(200).optional() })

const AgentBalance = z
  .object({
    agentId: id('agent'),
    walletId: id('wallet'),
    availableCents: moneySchema.meta({ description: 'The amount that the agent can spend.' }),
    heldCents: moneySchema.meta({ description: 'Amount held for approved intents.' }),
  })
  .meta({ id: 'AgentBalance' })

const AgentFunded = AgentEvent.extend({
  walletId: id('wallet'),
  fromWalletId: id('wallet'),
  amountCents: moneySchema,
  balanceCents: moneySchema,
})

/** The policies react to it by copying the template with this id for the agent. */
export const AgentCreated = AgentEvent.extend({ policyId: id('policy').nullable() })

const members = {
  name: labelSchema.meta({ examples: ['Research assistant'] }),
  description: freeTextSchema.nullable(),
  externalId: labelSchema
    .nullable()
    .meta({ description: 'Your own ID for the agent. Unique among your agents.' }),
  metadata: inputMetadataSchema,
}
const { name, description, externalId } = members

const fails = {
  agent_not_found: notFoundOrDeleted('agent'),
  external_id_taken: [409, 'externalId: another of your agents already uses it. Choose a different one.'],
} as const satisfies Record<string, RefusalSpec>

const readers = operationsFor({ callers: ['key', 'agent'], scope: 'agents:read' })
const writers = operationsFor({ callers: ['key'], scope: 'agents:write' })

export const agentsApi = {
  create: writers.post('/agents', {
    summary: 'Create an agent',
    description:
      'The agent gets an empty wallet to spend from. With `policyId` it gets its own copy of that template or preset (`standard`, …). Without a policy every intent waits for a person.',
    body: z.strictObject({
      name,
      description: description.default(null),
      externalId: externalId.default(null),
      policyId: id('policy').nullable().default(null),
      metadata: inputMetadataSchema.default({}),
      ...widening.members,
    }),
    example: { name: 'Research assistant', metadata: { team: 'research' } },
    returns: [201, AgentRecord],
    signature: widening.signature,
    fails: {
      ...widening.fails,
      external_id_taken: fails.external_id_taken,
      ...stepRefusals,
      ...newAgentRefusals,
    },
    emits: {
      ...widening.emits,
      'agent.created': declareEvent('An agent has been created, with a wallet of its own.', AgentCreated),
      'wallet.created': WalletEvent,
    },
  }),
  list: readers.list('/agents', {
    summary: 'List agents',
    description:
      'Newest first. Deleted agents are listed only with `status=deleted`. Agents that are being deleted are always listed.',
    filters: {
      status: status.optional(),
      externalId: searchTextSchema,
      name: searchTextSchema.meta({
        description: 'Only agents whose name contains this text, in any case.',
        examples: ['research'],
      }),
    },
    item: AgentRecord,
  }),
  get: readers.getOne('/agents/{id}', 'an agent', AgentRecord, { agent_not_found: notFound('agent') }),
  update: writers.patch('/agents/{id}', {
    summary: 'Update an agent',
    body: z.strictObject(members).partial(),
    example: { description: 'Reads papers and buys the ones it needs.' },
    returns: [200, AgentRecord],
    fails,
    emits: {
      'agent.updated': declareEvent(
        'The name, description, external ID or metadata of an agent have changed.',
        AgentEvent,
      ),
    },
  }),
  freeze: writers.post('/agents/{id}/freeze', {
    summary: 'Freeze an agent',
    description:
      'A frozen agent cannot spend. Payments on its intents that are not submitted yet are cancelled at once. Its tokens can still read.',
    body: z.strictObject({ reason: freeTextSchema.nullable().default(null) }),
    example: { reason: 'Unusual spending' },
    returns: [200, AgentRecord],
    fails: {
      agent_not_found: fails.agent_not_found,
      agent_not_active: [400, 'Only an active agent can be frozen.'],
    },
    emits: {
      'agent.frozen': declareEvent(
        'An agent has been frozen by a person or by its risk score: it cannot spend until it is unfrozen.',
        AgentEvent,
      ),
    },
  }),
  unfreeze: writers.post('/agents/{id}/unfreeze', {
    summary: 'Unfreeze an agent',
    description:
      'For an agent that a person has frozen. An agent frozen by its risk score (`frozenByAlertId`) is unfrozen with `POST /risk/agents/{id}/unfreeze`.',
    body: z.strictObject(widening.members),
    returns: [200, AgentRecord],
    signature: widening.signature,
    fails: {
      ...widening.fails,
      agent_not_found: fails.agent_not_found,
      agent_not_frozen: [400, 'Only a frozen agent can be unfrozen.'],
      frozen_by_risk: [
        400,
        'The risk score has frozen the agent. Review its alert, then unfreeze it with POST /risk/agents/{id}/unfreeze.',
      ],
    },
    emits: {
      ...widening.emits,
      'agent.unfrozen': declareEvent('An agent has been unfrozen: it may spend again.', AgentEvent),
    },
  }),
  fund: writers.post('/agents/{id}/fund', {
    summary: 'Move money into an agent’s wallet',
    description: 'The money comes from `fromWalletId`, which is optional if you have only one open wallet.',
    scope: 'wallets:fund',
    body: z.strictObject({ amountCents: positiveMoneySchema(), fromWalletId: id('wallet').optional() }),
    example: { amountEuros: 20, fromWalletId: 'wallet_01jd8x2m4ye7k9v0c3q5r6t8wz' },
    returns: [200, AgentBalance],
    fails: {
      agent_not_found: fails.agent_not_found,
      no_wallet: [
        400,
        'You have no open wallet. Create one with POST /wallets, or name one in fromWalletId.',
      ],
      wallet_needed: [400, 'fromWalletId: you have more than one open wallet. Name the one that pays.'],
      wallet_not_found: [404, 'fromWalletId: no such wallet.'],
      wallet_of_card: purseRefusal('fromWalletId'),
      same_wallet: [400, 'fromWalletId: this is the agent’s own wallet. Name another one.'],
      wallet_not_active: [400, 'fromWalletId: the wallet is frozen or closed.'],
      insufficient_funds: [400, 'The wallet’s available balance is too low.'],
    },
    emits: { 'agent.funded': declareEvent('Money has been moved into an agent’s wallet.', AgentFunded) },
  }),
  balance: readers.get('/agents/{id}/balance', {
    summary: 'Get what an agent can spend',
    tool: {
      name: 'get_balance',
      isCommon: true,
      use: 'Use it to see the agent’s balance and what is held for approved intents. The balance is not the budget: see get_budgets.',
    },
    returns: [200, AgentBalance],
    fails: { agent_not_found: notFound('agent') },
  }),
  delete: writers.del('/agents/{id}', {
    summary: 'Delete an agent',
    description:
      'The agent’s tokens are revoked immediately. The agent is `deleting` until its cards are closed, its open intents are cancelled and its money is back in your oldest open wallet, and then `deleted` permanently (`agent.deleted`). The record stays readable.',
    returns: [200, AgentRecord],
    fails: {
      agent_not_found: notFound('agent'),
      money_held: [400, 'Money of the agent is held for approved intents. Cancel them first.'],
      agent_deleted: [400, 'The agent is already deleted or being deleted.'],
      approval_needed: [
        400,
        'The agent’s policy asks people for payments from every wallet, and no other policy does. Remove its steps first (PUT /policies/{id}), which these people approve.',
      ],
    },
    emits: {
      'agent.deleting': declareEvent(
        'An agent is being deleted: its tokens are revoked, and its open intents and runs are being ended.',
        AgentEvent,
      ),
    },
  }),
}

/** The last steps of a deletion. Each waits for what has to end before it, and may be repeated. */
export const agentSteps = {
  returnMoney: step('agents.sweep', {
    summary: 'Move the money of an agent that is being deleted to its owner',
    emits: { 'wallet.created': WalletEvent, 'wallet.credited': WalletEvent, 'wallet.closed': WalletEvent },
  }),
  finishDeletion: step('agents.finishDeletion', {
    summary: 'Finish the deletion of an agent',
    emits: {
      'agent.deleted': declareEvent(
        'An agent has been deleted, and its money is back in its owner’s wallet.',
        AgentEvent,
      ),
    },
  }),
}
