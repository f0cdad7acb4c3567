import { refuseUnsignedWidening } from '../../identity/passkeys/index.ts'
import type { Mode, TenantNow } from '../../kernel/contract/actor.ts'
import type { WriteContext } from '../../kernel/contract/context.ts'
import { AnswerNow, type ExternalCallContext } from '../../kernel/contract/handlers.ts'
import { externalCall } from '../../kernel/contract/operation.ts'
import { FOR_UPDATE } from '../../kernel/database/entity.ts'
import {
  CALL_DONE,
  isProcessorFailure,
  type ProcessorCallDone,
  type ProcessorFailure,
} from '../../ports/card-processor.ts'
import { hasCardNumber } from '../../values/card-number.ts'
import { truncateText } from '../../values/schemas.ts'
import { AgentCredential, agentCredentialEvent, agentCredentialMachine } from './agent-credential.ts'
import { agentCredentialsApi } from './api.ts'
import { NOT_NOTIFIED } from './mpp-token.ts'

type TokenState = 'active' | 'suspended' | 'deleted'

/** Stored before the call, so its members must be JSON. */
interface StateRequest {
  readonly credentialId: string
  readonly mode: Mode
  readonly tokenId: string | null
  readonly state: TokenState
  readonly now: string
}

const requestFor = (
  { id, mode, tokenId }: AgentCredential,
  state: TokenState,
  { now }: Pick<TenantNow, 'now'>,
): StateRequest => ({ credentialId: id, mode, tokenId, state, now: now.toISOString() })

/** Until its answer is recorded, the processor counts as not notified: after a crash it can be notified again. */
function endingRequest(
  credential: AgentCredential,
  state: 'suspended' | 'deleted',
  context: Pick<TenantNow, 'now'>,
): StateRequest {
  credential.processorProblem ??= NOT_NOTIFIED
  return requestFor(credential, state, context)
}

const isSharedToken = (tokenId: string): boolean => tokenId.startsWith('spt_')

/**
 * Each change has its own reference, under which the processor acts once. A shared payment token can only be
 * revoked there.
 */
async function sendState(
  { credentialId, mode, tokenId, state, now }: StateRequest,
  { systems, requestId }: ExternalCallContext,
): Promise<ProcessorCallDone | ProcessorFailure> {
  const { setNetworkToken, sharedTokens } = systems.cardProcessor(mode)
  if (tokenId === null) return CALL_DONE
  const reference = `${credentialId}-${state}-${Date.parse(now)}`
  const call = { reference, requestId, now: new Date(now) }
  if (isSharedToken(tokenId))
    return sharedTokens && state === 'deleted' ? sharedTokens.revoke(tokenId, call) : CALL_DONE
  return setNetworkToken ? setNetworkToken(tokenId, state, call) : CALL_DONE
}

const UNANSWERED = {
  late: 'The processor did not answer in time. Repeat the request.',
  unusable: 'The answer of the processor cannot be used. Repeat the request.',
}

function problemOf(answer: ProcessorCallDone | ProcessorFailure): string | null {
  if (!isProcessorFailure(answer)) return null
  if (answer.failure !== 'refused') return UNANSWERED[answer.failure]
  return hasCardNumber(answer.message)
    ? 'The processor refuses.'
    : truncateText(`The processor refuses: ${answer.message}`)
}

/** The service already refuses payments by the token, so it only notes the processor's answer. */
async function noteAnswer(
  answer: ProcessorCallDone | ProcessorFailure,
  { credentialId }: StateRequest,
  { em }: WriteContext,
) {
  const credential = await em.findOne(AgentCredential, { id: credentialId }, FOR_UPDATE)
  if (!credential) throw new Error('an agent credential without its record')
  credential.processorProblem = problemOf(answer)
  return credential
}

const LOST: ProcessorFailure = { failure: 'late' }

const stateCall = {
  call: sendState,
  record: noteAnswer,
  recover: (request: StateRequest, context: WriteContext) => noteAnswer(LOST, request, context),
}

export const revokeAgentCredential = externalCall(agentCredentialsApi.revoke, {
  ...stateCall,
  async reserve({ params }, context) {
    const { em, now, emit, refuse } = context
    const credential = await em.findOne(AgentCredential, { id: params.id }, FOR_UPDATE)
    if (!credential) return refuse('agent_credential_not_found')
    if (agentCredentialMachine.move(credential, 'revoked')) {
      credential.revokedAt = now
      emit('agent_credential.revoked', agentCredentialEvent(credential))
    } else if (credential.status !== 'revoked' || !credential.processorProblem) {
      return refuse('agent_credential_over')
    }
    return endingRequest(credential, 'deleted', context)
  },
})

export const suspendAgentCredential = externalCall(agentCredentialsApi.suspend, {
  ...stateCall,
  async reserve({ params }, context) {
    const { em, emit, refuse } = context
    const credential = await em.findOne(AgentCredential, { id: params.id }, FOR_UPDATE)
    if (!credential) return refuse('agent_credential_not_found')
    if (credential.status === 'pending') return refuse('agent_credential_pending')
    if (agentCredentialMachine.isFinal(credential.status)) return refuse('agent_credential_over')
    if (agentCredentialMachine.move(credential, 'suspended'))
      emit('agent_credential.suspended', agentCredentialEvent(credential))
    else if (!credential.processorProblem) return new AnswerNow(credential)
    return endingRequest(credential, 'suspended', context)
  },
})

const RESUME_REFUSALS = {
  late: 'processor_silent',
  unusable: 'processor_unusable',
  refused: 'processor_refused',
} as const

/** Becomes active only after the processor confirms, since a token that the network refuses must not look usable. */
export const resumeAgentCredential = externalCall(agentCredentialsApi.resume, {
  async reserve({ params, body }, context) {
    const { em, now, refuse } = context
    const credential = await em.findOne(AgentCredential, { id: params.id }, FOR_UPDATE)
    if (!credential) return refuse('agent_credential_not_found')
    const isOver = agentCredentialMachine.isFinal(credential.status) || credential.expiresAt <= now
    if (isOver) return refuse('agent_credential_over')
    if (credential.status !== 'suspended') return refuse('agent_credential_not_suspended')
    const { id } = credential
    const unsigned = await refuseUnsignedWidening(
      body.webauthnAssertion,
      () => [{ of: 'network token', id, name: null, field: 'Status', from: 'suspended', to: 'active' }],
      context,
    )
    if (unsigned) return unsigned
    return requestFor(credential, 'active', context)
  },
  call: sendState,
  async record(answer, { credentialId }, { em, emit, refuse }) {
    const credential = await em.findOne(AgentCredential, { id: credentialId }, FOR_UPDATE)
    if (!credential) return refuse('agent_credential_not_found')
    if (isProcessorFailure(answer)) {
      credential.processorProblem = problemOf(answer)
      return refuse(RESUME_REFUSALS[answer.failure])
    }
    if (!agentCredentialMachine.move(credential, 'active')) return refuse('agent_credential_over')
    credential.processorProblem = null
    emit('agent_credential.resumed', agentCredentialEvent(credential))
    return credential
  },
  recover: async (_, { refuse }) => refuse('processor_silent'),
})
