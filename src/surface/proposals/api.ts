import { z } from 'zod'
import { assertionRefusals, webauthnAssertion } from '../../identity/passkeys/index.ts'
import { event } from '../../kernel/contract/events.ts'
import { type Failure, get, list, missing, post } from '../../kernel/contract/operation.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { recordHead, recordTail } from '../../values/schemas.ts'
import { type NewProposal, proposalMachine } from './proposal.ts'

const status = z.enum(proposalMachine.states).meta({
  description:
    '`applying`: somebody applies it just now. `outdated`: what it was about had changed when somebody applied it. `failed`: nobody knows whether it was done.',
})

const Somebody = z.object({ type: z.string(), id: z.string().nullable(), name: z.string().nullable() })

const ProposalRecord = z
  .object({
    ...recordHead('proposal'),
    agentId: id('agent').nullable().meta({ description: 'The agent whose token proposes it.' }),
    status,
    operation: z.string().meta({
      description: 'The operation that applying it calls.',
      examples: ['policies.replace'],
    }),
    input: z
      .record(z.string(), z.unknown())
      .meta({ maxProperties: 200, description: 'Its members of path, query and body, as they were given.' }),
    summary: z.string().meta({ description: 'In words.', examples: ['Freeze an agent: Scout'] }),
    reason: z.string().nullable().meta({ description: 'What the proposer says. Words of somebody else.' }),
    changes: z
      .array(z.object({ member: z.string(), from: z.string().nullable(), to: z.string().nullable() }))
      .meta({ description: 'What would be another one, beside the record as it was then.' }),
    effect: z
      .object({ source: z.enum(['simulation', 'backtest']), sentence: z.string() })
      .nullable()
      .meta({ description: 'What it would have done at that time, where that can be said.' }),
    recordId: z.string().nullable().meta({ description: 'The record that it is about.' }),
    takesPasskey: z.boolean().meta({ description: 'Whether the operation takes a `webauthnAssertion`.' }),
    proposedBy: Somebody,
    expiresAt: instant.meta({ description: 'Until then it can be applied.' }),
    refusal: z
      .object({ code: z.string(), message: z.string() })
      .nullable()
      .meta({ description: 'What the operation has refused when it was applied last.' }),
    resultId: z
      .string()
      .nullable()
      .meta({ description: 'The id of the record that the operation answered.' }),
    decidedBy: Somebody.nullable(),
    decidedAt: instant.nullable(),
    ...recordTail,
  })
  .meta({ id: 'Proposal' })

const ProposalEvent = z.object({
  proposalId: id('proposal'),
  agentId: id('agent').nullable(),
  operation: z.string(),
  recordId: z.string().nullable(),
  resultId: z.string().nullable(),
  status: z.enum(proposalMachine.states),
  expiresAt: instant,
})

const created = {
  'canvas.proposal_created': event('Somebody has proposed what a person may apply.', ProposalEvent),
}
const decided = {
  'canvas.proposal_applied': event('A person has applied a proposal: its operation was done.', ProposalEvent),
  'canvas.proposal_dismissed': event(
    'A proposal was dismissed, or what it was about had changed when somebody applied it.',
    ProposalEvent,
  ),
  'canvas.proposal_expired': event('Nobody has applied a proposal in time.', ProposalEvent),
}

const proposal_not_found = missing('proposal')
const lookupFails = { proposal_not_found } as const satisfies Record<string, Failure>

const changeFails = {
  proposal_not_found,
  proposal_over: [400, 'The proposal is applied, dismissed or over already. Make another one.'],
  proposal_expired: [410, 'Nobody has applied the proposal within fifteen minutes. Make another one.'],
  proposal_applying: [409, 'The proposal is being applied just now. Look at it again in a minute.'],
} as const satisfies Record<string, Failure>

/** Computed by the service itself: an object of this process, which no caller can send. */
const newProposal = z.strictObject({
  proposal: z.custom<NewProposal>(
    given => typeof given === 'object' && given !== null && 'operation' in given,
    'must be a proposal that the service has made',
  ),
})

const readers = { callers: ['key', 'agent'], scope: 'canvas:read' } as const

export const proposalsApi = {
  list: list('/canvas/proposals', {
    ...readers,
    summary: 'List proposals',
    description:
      'What assistants and agents propose and may not do, newest first. Each can be applied for fifteen minutes. A token sees its agent’s own.',
    filters: { status: status.optional(), agentId: id('agent').optional() },
    item: ProposalRecord,
  }),
  get: get('/canvas/proposals/{id}', {
    ...readers,
    summary: 'Get a proposal',
    returns: [200, ProposalRecord],
    fails: lookupFails,
  }),
  apply: post('/canvas/proposals/{id}/apply', {
    summary: 'Apply a proposal',
    description: [
      'Does exactly the operation with exactly the input of the proposal, with the rights of who applies it, once: applying it again gets the same answer and does nothing. Where the record that it is about, or the policy of its agent, has changed since, nothing is done. `GET /events?requestId=` with the id of the proposal tells what it has done.',
      'Where the operation takes the signature of a passkey (`takesPasskey`), send it along as you would to the operation itself. What the operation refuses is `proposal_refused`, and can be tried again.',
    ].join('\n\n'),
    callers: ['key'],
    scope: 'canvas:apply',
    run: 'outside',
    body: z.strictObject({ webauthnAssertion: webauthnAssertion.optional() }),
    example: {},
    returns: [200, ProposalRecord],
    fails: {
      ...changeFails,
      proposal_outdated: [409, 'What the proposal was made of has changed since. Make another one.'],
      assertion_required: assertionRefusals.assertion_required,
      statement_outdated: assertionRefusals.statement_outdated,
      proposal_refused: [409, 'The operation was refused. Nothing was done.'],
    },
    emits: decided,
  }),
  dismiss: post('/canvas/proposals/{id}/dismiss', {
    summary: 'Dismiss a proposal',
    description: 'It can be applied no more. A token dismisses what it has proposed itself.',
    callers: ['key', 'agent'],
    scope: 'canvas:write',
    returns: [200, ProposalRecord],
    fails: changeFails,
    emits: decided,
  }),
  /** Called by the tools of assistants and the conversation, after they have looked up the record. */
  make: post('/canvas/proposals', {
    summary: 'Keep a proposal',
    callers: [],
    body: newProposal,
    returns: [201, z.object({ proposal: ProposalRecord.nullable(), isRepeated: z.boolean() })],
    emits: created,
  }),
  /** Expires an open proposal, and resolves one whose attempt has no known outcome. */
  end: post('/canvas/proposals/{id}/end', {
    summary: 'End a proposal that is due',
    callers: [],
    run: 'outside',
    returns: [200, z.object({ done: z.boolean() })],
    fails: lookupFails,
    emits: decided,
  }),
}
