import { hash } from 'node:crypto'
import type { AcquirerCall, Charge, ChargeOutcome } from '../../ports/acquirer.ts'
import type { CardMerchant, CardProcessor, CardReply, MessageContent } from '../../ports/card-processor.ts'
import { excerpt } from '../../values/schemas.ts'
import type { Deliver } from '../card-processor/sandbox-refunds.ts'
import type { SealedToken } from '../card-processor/sandbox-seal.ts'

/** The sandbox's own network: what the acquirer is asked for becomes messages to the issuer of the card. */
export interface SandboxNetwork {
  readonly processor: Pick<CardProcessor, 'sign' | 'replyIn'>
  readonly deliver: Deliver
}

/** All messages of a charge are the same in every repetition: the service answers the same bytes with the same bytes. */
const SENT_AT = new Date(0)

/** The network's id of what a reference is about, as short for a long reference. */
const idOf = (...parts: readonly string[]): string =>
  `acquirer_${hash('sha256', JSON.stringify(parts), 'base64url')}`

const merchantOf = ({ descriptor }: Charge, { tokenId }: SealedToken): CardMerchant => ({
  descriptor: excerpt(descriptor),
  mcc: null,
  country: null,
  url: null,
  networkTokenId: tokenId,
})

/** Has the issuer authorize the amount, then clears it. To ask again changes nothing, and tells how it stands. */
export async function chargeByNetwork(
  network: SandboxNetwork,
  token: SealedToken,
  charge: Charge,
  call: AcquirerCall,
): Promise<ChargeOutcome> {
  const authorizationId = idOf(charge.reference)
  const shared = { authorizationId, amountEuros: charge.amountEuros, merchant: merchantOf(charge, token) }
  const send = (id: string, content: MessageContent) => tell(network, token, { id, content }, call)
  const asked = { kind: 'authorization', ask: 0, partialAllowed: false, ...shared } as const
  const answer = await send(idOf(charge.reference, 'authorization'), asked)
  if (answer?.kind === 'declined') return { outcome: 'declined', code: 'declined', reason: answer.reason }
  if (answer?.kind !== 'approved') return { outcome: 'late' }
  const clearingId = idOf(charge.reference, 'clearing')
  const cleared = await send(clearingId, { kind: 'clearing', clearingId, final: true, ...shared })
  return { outcome: cleared ? 'approved' : 'late' }
}

export async function refundByNetwork(
  network: SandboxNetwork,
  token: SealedToken,
  refund: Charge & { readonly refundReference: string },
  call: AcquirerCall,
): Promise<ChargeOutcome> {
  const { reference, refundReference, amountEuros } = refund
  const refundId = idOf(reference, 'refund', refundReference)
  const content = {
    kind: 'refund',
    refundId,
    authorizationId: idOf(reference),
    amountEuros,
    merchant: merchantOf(refund, token),
  } as const
  return { outcome: (await tell(network, token, { id: refundId, content }, call)) ? 'approved' : 'late' }
}

async function tell(
  { processor, deliver }: SandboxNetwork,
  { processorCardId }: SealedToken,
  { id, content }: { readonly id: string; readonly content: MessageContent },
  { requestId }: AcquirerCall,
): Promise<CardReply | undefined> {
  const { sign, replyIn } = processor
  if (!sign || !replyIn) throw new Error('the processor of test mode signs messages and reads their answers')
  const answer = await deliver(sign({ id, processorCardId, sentAt: SENT_AT, content }), requestId)
  return answer ? replyIn(answer) : undefined
}
