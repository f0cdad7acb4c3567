import { z } from 'zod'
import { event } from '../../kernel/contract/events.ts'
import { del, type Failure, get, gone, list, missing, patch, post } from '../../kernel/contract/operation.ts'
import { WalletEvent } from '../../money/wallets/index.ts'
import { id } from '../../values/ids.ts'
import { euros, positiveEuros } from '../../values/money.ts'
import {
  freeText,
  label,
  metadata,
  ProcessStatusRecord,
  recordHead,
  recordTail,
  searchText,
} from '../../values/schemas.ts'
import { agentMachine } from './agent.ts'

const status = z.enum(agentMachine.states)

export const AgentRecord = z
  .object({
    ...recordHead('agent'),
    name: z.string(),
    description: z.string().nullable(),
    externalId: z.string().nullable(),
    status,
    frozenReason: z.string().nullable(),
    frozenByAlertId: id('alert')
      .nullable()
      .meta({ description: 'The risk alert that it is freed through; null where a person has frozen it.' }),
    walletId: id('wallet').meta({ description: 'The wallet it spends from.' }),
    policyId: id('policy')
      .nullable()
      .meta({ description: 'The policy of its own that the agent spends under.' }),
    metadata,
    ...recordTail,
  })
  .meta({ id: 'Agent' })

export const AgentEvent = z.object({ agentId: id('agent'), status, reason: z.string().max(200).optional() })

const AgentBalance = z
  .object({
    agentId: id('agent'),
    walletId: id('wallet'),
    availableEuros: euros.meta({ description: 'What it can spend.' }),
    heldEuros: euros.meta({ description: 'Kept for intents that have been approved.' }),
  })
  .meta({ id: 'AgentBalance' })

const AgentFunded = AgentEvent.extend({
  walletId: id('wallet'),
  fromWalletId: id('wallet'),
  amountEuros: euros,
  balanceEuros: euros,
})

/** The policies react to it: they copy the template with this id for the agent. */
export const AgentCreated = AgentEvent.extend({ policyId: id('policy').nullable() })

const members = {
  name: label.meta({ examples: ['Research assistant'] }),
  description: freeText.nullable(),
  externalId: label.nullable().meta({ description: 'Your own name for the agent; unique among yours.' }),
  metadata,
}
const { name, description, externalId } = members

const fails = {
  agent_not_found: gone('agent'),
  external_id_taken: [409, 'externalId: another agent of yours has it.'],
} as const satisfies Record<string, Failure>

export const agentsApi = {
  create: post('/agents', {
    summary: 'Create an agent',
    description:
      'It has an empty wallet to spend from. With `policyId` the agent gets a policy of its own, a copy of that template or preset (`standard`, …). Without one it cannot spend until a policy is assigned.',
    callers: ['key'],
    scope: 'agents:write',
    body: z.strictObject({
      name,
      description: description.default(null),
      externalId: externalId.default(null),
      policyId: id('policy').nullable().default(null),
      metadata: metadata.default({}),
    }),
    example: { name: 'Research assistant', metadata: { team: 'research' } },
    returns: [201, AgentRecord],
    fails: { external_id_taken: fails.external_id_taken },
    emits: {
      'agent.created': event('An agent has been made, with a policy and a wallet of its own.', AgentCreated),
      'wallet.created': WalletEvent,
    },
  }),
  list: list('/agents', {
    summary: 'List agents',
    description:
      'Newest first. Deleted agents are left out unless `status=deleted` asks for them; one that is still being deleted is shown.',
    callers: ['key', 'agent'],
    scope: 'agents:read',
    filters: { status: status.optional(), externalId: searchText },
    item: AgentRecord,
  }),
  get: get('/agents/{id}', {
    summary: 'Get an agent',
    callers: ['key', 'agent'],
    scope: 'agents:read',
    returns: [200, AgentRecord],
    fails: { agent_not_found: missing('agent') },
  }),
  update: patch('/agents/{id}', {
    summary: 'Change what an agent is called',
    callers: ['key'],
    scope: 'agents:write',
    body: z.strictObject(members).partial(),
    example: { description: 'Reads papers and buys the ones it needs.' },
    returns: [200, AgentRecord],
    fails,
    emits: { 'agent.updated': event('What an agent is called has changed.', AgentEvent) },
  }),
  freeze: post('/agents/{id}/freeze', {
    summary: 'Freeze an agent',
    description:
      'Every spend of a frozen agent is refused, and a payment on one of its intents that is not submitted yet is cancelled at once; reading still works.',
    callers: ['key'],
    scope: 'agents:write',
    body: z.strictObject({ reason: freeText.nullable().default(null) }),
    example: { reason: 'Unusual spending' },
    returns: [200, AgentRecord],
    fails: {
      agent_not_found: fails.agent_not_found,
      agent_not_active: [400, 'Only an active agent can be frozen.'],
    },
    emits: {
      'agent.frozen': event(
        'An agent has been stopped, by a person or for its risk: it spends nothing until it is let go.',
        AgentEvent,
      ),
    },
  }),
  unfreeze: post('/agents/{id}/unfreeze', {
    summary: 'Unfreeze an agent',
    description:
      'One that a person has frozen. What risk has frozen (`frozenByAlertId`) is freed through its alert: see `POST /risk/agents/{id}/unfreeze`.',
    callers: ['key'],
    scope: 'agents:write',
    returns: [200, AgentRecord],
    fails: {
      agent_not_found: fails.agent_not_found,
      agent_not_frozen: [400, 'Only a frozen agent can be unfrozen.'],
      frozen_by_risk: [
        400,
        'Risk has frozen the agent. Look at its alert, then free it with POST /risk/agents/{id}/unfreeze.',
      ],
    },
    emits: { 'agent.unfrozen': event('An agent that was frozen may spend again.', AgentEvent) },
  }),
  fund: post('/agents/{id}/fund', {
    summary: 'Move money into an agent’s wallet',
    description: 'From `fromWalletId`, or where that is left out from your oldest open wallet.',
    callers: ['key'],
    scope: 'wallets:fund',
    body: z.strictObject({ amountEuros: positiveEuros(), fromWalletId: id('wallet').optional() }),
    example: { amountEuros: 20 },
    returns: [200, AgentBalance],
    fails: {
      agent_not_found: fails.agent_not_found,
      no_wallet: [400, 'You have no open wallet: make one with POST /wallets, or name one in fromWalletId.'],
      wallet_not_found: [404, 'fromWalletId: no such wallet.'],
      same_wallet: [400, 'fromWalletId: it is the agent’s own wallet.'],
      wallet_not_active: [400, 'fromWalletId: the wallet is frozen or closed.'],
      insufficient_funds: [400, 'There is not enough in the wallet.'],
    },
    emits: { 'agent.funded': event('Money has been moved into an agent’s wallet.', AgentFunded) },
  }),
  balance: get('/agents/{id}/balance', {
    summary: 'What an agent can spend',
    callers: ['key', 'agent'],
    scope: 'agents:read',
    returns: [200, AgentBalance],
    fails: { agent_not_found: missing('agent') },
  }),
  /** A step in the deletion of an agent. */
  sweep: post('/agents/{id}/sweep', {
    summary: 'Give what an agent has left back to its owner',
    callers: [],
    returns: [200, z.object({ done: z.boolean() })],
    fails: { agent_not_found: missing('agent') },
    emits: { 'wallet.created': WalletEvent, 'wallet.credited': WalletEvent, 'wallet.closed': WalletEvent },
  }),
  delete: del('/agents/{id}', {
    summary: 'Delete an agent',
    description:
      'Its tokens stop and nothing new can be done with it. It is `deleting` until its open intents have been cancelled and its money is back in your oldest open wallet, and then `deleted` for good (`agent.deleted`). The record stays readable.',
    callers: ['key'],
    scope: 'agents:write',
    returns: [200, AgentRecord],
    fails: {
      agent_not_found: missing('agent'),
      money_held: [400, 'Money of the agent is held for approved intents. Cancel them before.'],
      agent_deleted: [400, 'The agent is deleted or being deleted already.'],
    },
    emits: {
      'agent.deleting': event(
        'An agent is being deleted: its tokens have stopped, what is open is being ended.',
        AgentEvent,
      ),
    },
  }),
  /** The process of the agent reads this whenever the agent has changed. */
  status: get('/agents/{id}/status', {
    summary: 'Whether an agent is being deleted',
    callers: [],
    returns: [200, ProcessStatusRecord],
    fails: { agent_not_found: missing('agent') },
  }),
  /** The last step in the deletion of an agent. */
  finishDeletion: post('/agents/{id}/finish-deletion', {
    summary: 'End an agent that is being deleted',
    callers: [],
    returns: [200, z.object({ done: z.boolean() })],
    fails: { agent_not_found: missing('agent') },
    emits: {
      'agent.deleted': event(
        'An agent that was being deleted is gone, and its money is back with its owner.',
        AgentEvent,
      ),
    },
  }),
}
