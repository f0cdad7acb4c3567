import { type ContextOf, externalCall } from '../../kernel/contract/operation.ts'
import { Refusal } from '../../kernel/contract/problem.ts'
import { withMembers } from '../../kernel/database/entity.ts'
import type { Disclosure, ProcessorFailure } from '../../ports/card-processor.ts'
import {
  type DisclosureRequest,
  disclose,
  recordLost,
  recordOutcome,
  redeem as redeemForData,
} from '../access-events/index.ts'
import type { NamedRecipient } from '../filler-keys/index.ts'
import { credentialsApi, overRefusals } from './api.ts'
import { Credential, credentialMachine, overBecause } from './credential.ts'
import { credentialEvent } from './events.ts'

type Context = ContextOf<typeof credentialsApi.redeem>

/** Stored before the call, so it must be JSON. */
type Redemption = DisclosureRequest & { readonly credentialId: string }

async function reserve(
  id: string,
  recipient: NamedRecipient,
  context: Context,
): Promise<Redemption | Refusal> {
  const { records, now, emit, refuse } = context
  const credential = await records.lock(Credential, id)
  if (!credential) return refuse('credential_not_found')
  const code = overBecause(credential, now)
  const over = code && { code, message: overRefusals[code][1] }
  const { cardId, intentId } = credential
  const redeemable = { id, way: 'credential', cardId, intentId, merchantHost: null, over } as const
  const request = await redeemForData(redeemable, recipient, context)
  if (request instanceof Refusal) return request
  credentialMachine.move(credential, 'redeemed')
  Object.assign(credential, {
    redeemedAt: now,
    accessEventId: request.accessEventId,
    keyThumbprint: request.key.thumbprint,
  })
  emit('credential.redeemed', credentialEvent(credential))
  return { ...request, credentialId: id }
}

/** Lets a credential be redeemed again for which nothing was given. */
async function reopen(id: string, { records, emit }: Context): Promise<void> {
  const credential = await records.lock(Credential, id)
  if (!credential || !credentialMachine.move(credential, 'issued')) return
  Object.assign(credential, { redeemedAt: null, accessEventId: null, keyThumbprint: null })
  emit('credential.reopened', credentialEvent(credential))
}

async function record(
  answer: Disclosure | ProcessorFailure,
  { credentialId, accessEventId }: Redemption,
  context: Context,
) {
  const given = await recordOutcome(answer, accessEventId, context)
  if (given instanceof Refusal) {
    await reopen(credentialId, context)
    return given
  }
  const credential = await context.records.findOneOrFail(Credential, { id: credentialId })
  return withMembers(credential, { jwe: given.jwe })
}

async function recover({ credentialId, accessEventId }: Redemption, context: Context): Promise<Refusal> {
  await reopen(credentialId, context)
  return recordLost(accessEventId, context)
}

/** The credential is used before the processor is called: of two redemptions at once one wins. */
export const redeem = externalCall(credentialsApi.redeem, {
  reserve: ({ params, body }, context) => reserve(params.id, body, context),
  call: disclose,
  record,
  recover,
})
