import { z } from 'zod'
import { assertionRefusals, webauthnAssertion } from '../../identity/passkeys/index.ts'
import { get, list, post } from '../../kernel/contract/operation.ts'
import { id } from '../../values/ids.ts'
import type { NewProposal } from './proposal.ts'
import { changeFails, created, decided, lookupFails, ProposalRecord, status } from './schemas.ts'

/** What the service itself has found out about a proposal: nobody outside can send it. */
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
  /** What was looked up for it is given: the tools of assistants and the conversation make proposals. */
  make: post('/canvas/proposals', {
    summary: 'Keep a proposal',
    callers: [],
    body: newProposal,
    returns: [201, z.object({ proposal: ProposalRecord.nullable(), isRepeated: z.boolean() })],
    emits: created,
  }),
  /** Expires what nobody has applied, and finds out what became of what somebody was applying. */
  end: post('/canvas/proposals/{id}/end', {
    summary: 'End a proposal that is due',
    callers: [],
    run: 'outside',
    returns: [200, z.object({ done: z.boolean() })],
    fails: lookupFails,
    emits: decided,
  }),
}
