import { HotCall, recordInBatch } from '../../../kernel/contract/handlers.ts'
import { withMembers } from '../../../kernel/database/entity.ts'
import type { MppCredential } from '../credential.ts'
import { merchantRequestHeaders } from '../merchant-request.ts'
import type { SendablePayment, SendStage } from './payment.ts'
import { type IndeterminatePayment, recordPaidStep, sendCredential } from './send.ts'

type ShownCredential = MppCredential & { readonly header: string; readonly credential: string }

export type HandedOver = ShownCredential | HotCall<SendStage, IndeterminatePayment>

/** Shows a recorded credential to its caller, or sends it, once. */
export function handOver(
  credential: MppCredential,
  payment: SendablePayment,
  { header, credential: value }: { readonly header: string; readonly credential: string },
): HandedOver {
  if (credential.sentBy === 'caller')
    return withMembers(credential, { header: shownHeader(header), credential: value })
  const { request } = payment
  const headers = { ...merchantRequestHeaders(request.headers, header), [header]: value }
  const sent = { ...payment, request: { ...request, headers } }
  return new HotCall({ stage: 'send', credentialId: credential.id }, async outside => {
    const answer = await sendCredential(sent, outside)
    return answer.kind === 'paid' ? recordInBatch(recordPaidStep, answer) : answer
  })
}

const shownHeader = (header: string): string =>
  header === 'authorization' ? 'Authorization' : 'Payment-Authorization'
